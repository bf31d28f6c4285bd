/** The variables of OpenTelemetry that start and tune traces. */
import { describe, expect, it } from "vitest";
import { traceIdOf } from "../../../../src/telemetry/traces/call-trace.ts";
import {
  isTracingOn,
  samplerSetting,
  spanQueue,
  type TraceEnvironment,
  traceEndpoint,
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

it.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://u:secret@h:1/x/" }, "http://h:1/x/v1/traces"],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4318" }, "an endpoint that is no HTTP URL"],
])("%j: messages name %s", (environment, endpoint) => {
  expect(traceEndpoint(environment)).toBe(endpoint);
});

it.each([
  [
    { ...ENDPOINT, OTEL_TRACES_EXPORTER: "zipkin" },
    "OTEL_TRACES_EXPORTER: expected otlp or none, got zipkin",
  ],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" },
    "OTEL_EXPORTER_OTLP_ENDPOINT: expected a URL with http:// or https://, got collector:4318",
  ],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: "u:secret@collector:4318" },
    "OTEL_EXPORTER_OTLP_ENDPOINT: expected a URL with http:// or https://",
  ],
  [
    { ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "/v1/traces" },
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: expected a URL with http:// or https://, got /v1/traces",
  ],
])("%j is a warning, and no traces", (environment, warning) => {
  const warnings: string[] = [];
  expect(isTracingOn(environment, (message) => warnings.push(message))).toBe(false);
  expect(warnings).toEqual([`${warning}; no spans are exported`]);
});

describe("the sampler", () => {
  it.each<[string | undefined, string | undefined, object]>([
    [undefined, undefined, { name: "always_on", parentBased: true }],
    ["always_off", undefined, { name: "always_off", parentBased: false }],
    ["traceidratio", "0.1", { name: "traceidratio", ratio: 0.1, parentBased: false }],
    ["parentbased_traceidratio", "0", { name: "traceidratio", ratio: 0, parentBased: true }],
  ])("%s with %s", (sampler, argument, expected) => {
    const environment = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: argument };
    expect(samplerSetting(environment, fail)).toMatchObject(expected);
  });

  it.each([
    [{ OTEL_TRACES_SAMPLER: "xray" }, "OTEL_TRACES_SAMPLER"],
    [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "10%" }, "SAMPLER_ARG"],
    [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" }, "SAMPLER_ARG"],
  ])("a mistake is a warning: %j", (environment, variable) => {
    const warnings: string[] = [];
    samplerSetting(environment, (message) => warnings.push(message));
    expect(warnings.join()).toContain(variable);
  });
});

it("the queue takes positive integers, and has the SDK's defaults otherwise", () => {
  expect(
    spanQueue({
      OTEL_BSP_MAX_QUEUE_SIZE: "10",
      OTEL_BSP_SCHEDULE_DELAY: "-1",
      OTEL_BSP_EXPORT_TIMEOUT: "soon",
    }),
  ).toEqual({ maxQueueSize: 10 });
});

describe("the trace id of a line, from traceparent", () => {
  const id = "4bf92f3577b34da6a3ce929d0e0e4736";
  it.each([
    [`00-${id}-00f067aa0ba902b7-01`, id],
    [`cc-${id}-00f067aa0ba902b7-01-later`, id],
    [`ff-${id}-00f067aa0ba902b7-01`, undefined],
    [`00-${id}-${"0".repeat(16)}-01`, undefined],
    [`00-${id.toUpperCase()}-00f067aa0ba902b7-01`, undefined],
    [`00-${id}-00f067aa0ba902b7-01,00-${id}-00f067aa0ba902b7-01`, undefined],
    [undefined, undefined],
  ])("%s", (traceparent, expected) => {
    expect(traceIdOf({ traceparent })).toBe(expected);
  });
});
