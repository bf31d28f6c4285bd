/** The standard variables of OpenTelemetry that the SDK leaves to its user. */

/** The environment: variables by name. */
export type TraceEnvironment = Readonly<Record<string, string | undefined>>;

/** Called with a mistake. OpenTelemetry demands that a mistake does not stop the start. */
type Warn = (message: string) => void;

/**
 * Whether spans are exported: `OTEL_TRACES_EXPORTER` is `otlp`, or it is unset and there is an
 * endpoint. `OTEL_SDK_DISABLED` turns everything off.
 */
export function isTracingOn(environment: TraceEnvironment, warn: Warn): boolean {
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === "true") return false;
  const exporter = environment.OTEL_TRACES_EXPORTER || undefined;
  if (exporter === "none") return false;
  if (exporter !== undefined && exporter !== "otlp") {
    warn(`OTEL_TRACES_EXPORTER: expected otlp or none, got ${exporter}; no spans are exported`);
    return false;
  }
  // The exporter would send to localhost in place of one that it cannot use.
  const [endpoint] = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"].filter(
    (name) => environment[name],
  );
  const text = endpoint && environment[endpoint];
  if (text && !/^https?:$/.test(URL.parse(text)?.protocol ?? "")) {
    const got = text.includes("@") ? "" : `, got ${text}`;
    warn(`${endpoint}: expected a URL with http:// or https://${got}; no spans are exported`);
    return false;
  }
  return Boolean(exporter || endpoint);
}

/** Which traces are recorded. */
export interface SamplerSetting {
  /** Decides for a trace that begins here. */
  readonly name: "always_on" | "always_off" | "traceidratio";
  /** For `traceidratio`: the share of traces, from 0 to 1. */
  readonly ratio: number;
  /** Whether a caller's decision is followed. */
  readonly parentBased: boolean;
}

/** Reads `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`; `parentbased_always_on` by default. */
export function samplerSetting(environment: TraceEnvironment, warn: Warn): SamplerSetting {
  const text = environment.OTEL_TRACES_SAMPLER || "parentbased_always_on";
  const known = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(text);
  if (!known) warn(`OTEL_TRACES_SAMPLER: unknown sampler ${text}; parentbased_always_on is used`);
  const argument = environment.OTEL_TRACES_SAMPLER_ARG || "1";
  const ratio = Number(argument);
  const valid = ratio >= 0 && ratio <= 1;
  if (!valid) warn(`OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1, got ${argument}`);
  return {
    name: (known?.[2] ?? "always_on") as SamplerSetting["name"],
    ratio: valid ? ratio : 1,
    parentBased: known === null || known[1] !== undefined,
  };
}
