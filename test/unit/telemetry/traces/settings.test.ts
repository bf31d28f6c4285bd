/** The variables of OpenTelemetry that start and tune traces. */
import { expect, it, vi } from "vitest";
import { traceIdOf } from "../../../../src/telemetry/traces/call-trace.ts";
import {
  isTracingOn,
  samplerSetting,
  type TraceEnvironment,
} from "../../../../src/telemetry/traces/settings.ts";

const fail = (message: string) => {
  throw new Error(message);
};

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

it.each<[TraceEnvironment, boolean]>([
  [{}, false],
  [ENDPOINT, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://collector:4318/v1/traces" }, true],
  [{ OTEL_TRACES_EXPORTER: "otlp" }, true],
  [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: "none" }, false],
  [{ ...ENDPOINT, OTEL_SDK_DISABLED: "TRUE" }, false],
  [{ OTEL_SERVICE_NAME: "revenue" }, false],
])("%j: traces %j", (environment, on) => {
  expect(isTracingOn(environment, fail)).toBe(on);
});

const URL_EXPECTED = "OTEL_EXPORTER_OTLP_ENDPOINT: expected a URL with http:// or https://";

it.each<[TraceEnvironment, string]>([
  [{ OTEL_TRACES_EXPORTER: "zipkin" }, "OTEL_TRACES_EXPORTER: expected otlp or none, got zipkin"],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" }, `${URL_EXPECTED}, got collector:4318`],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "u:secret@collector:4318" }, URL_EXPECTED],
  [
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "/v1/traces" },
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: expected a URL with http:// or https://, got /v1/traces",
  ],
])("%j is a warning, and no traces", (environment, warning) => {
  const warn = vi.fn();
  expect(isTracingOn(environment, warn)).toBe(false);
  expect(warn.mock.calls).toEqual([[`${warning}; no spans are exported`]]);
});

it.each<[string | undefined, string | undefined, object, string?]>([
  [undefined, undefined, { name: "always_on", parentBased: true }],
  ["always_off", undefined, { name: "always_off", parentBased: false }],
  ["traceidratio", "0.1", { name: "traceidratio", ratio: 0.1, parentBased: false }],
  ["parentbased_traceidratio", "0", { name: "traceidratio", ratio: 0, parentBased: true }],
  ["xray", undefined, { name: "always_on", parentBased: true }, "OTEL_TRACES_SAMPLER: "],
  ["traceidratio", "10%", { ratio: 1 }, "OTEL_TRACES_SAMPLER_ARG: "],
  ["traceidratio", "2", { ratio: 1 }, "OTEL_TRACES_SAMPLER_ARG: "],
])(
  "the sampler %s with %s; a mistake is a warning",
  (sampler, argument, expected, warning = "") => {
    const warn = vi.fn();
    const environment = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: argument };
    expect(samplerSetting(environment, warn)).toMatchObject(expected);
    expect(warn.mock.calls.join()).toMatch(warning === "" ? /^$/ : warning);
  },
);

const ID = "4bf92f3577b34da6a3ce929d0e0e4736";

it.each([
  [`00-${ID}-00f067aa0ba902b7-01`, ID],
  [`cc-${ID}-00f067aa0ba902b7-01-later`, ID],
  [`ff-${ID}-00f067aa0ba902b7-01`, undefined],
  [`00-${ID}-${"0".repeat(16)}-01`, undefined],
  [`00-${ID.toUpperCase()}-00f067aa0ba902b7-01`, undefined],
  [`00-${ID}-00f067aa0ba902b7-01,00-${ID}-00f067aa0ba902b7-01`, undefined],
  [undefined, undefined],
])("the trace id of a line, from traceparent: %s", (traceparent, expected) => {
  expect(traceIdOf({ traceparent })).toBe(expected);
});
