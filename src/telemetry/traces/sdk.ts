/**
 * OpenTelemetry's SDK for traces. It is loaded and started only where the environment asks for it,
 * by the standard variables; a process without them pays nothing. `@opentelemetry/sdk-node`, which reads more of them
 * itself, would bring 22 packages.
 *
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
import { context, type Tracer } from "@opentelemetry/api";
import { createCallTraces, type TraceCall } from "./call-trace.ts";
import {
  isTracingOn,
  samplerSetting,
  spanQueue,
  type TraceEnvironment,
  traceEndpoint,
} from "./settings.ts";

/** Running traces. */
export interface Tracing {
  readonly traceCall: TraceCall;
  readonly tracer: Tracer;
  /** Exports the spans that wait, and stops. */
  stop(): Promise<void>;
}

const NAME = "revenue-service";
/** The minimum time between two warnings about failed exports, in ms. */
const WARNING_INTERVAL = 60_000;

/**
 * Starts the SDK; resolves to undefined if the environment does not ask for it. The exporter and
 * the resource read their variables themselves. Spans that cannot be exported are dropped.
 *
 * @param warn called with mistakes in the variables, and with failed exports: those have the
 *   `endpoint` and the `cause` as fields
 */
export async function startTracing(
  environment: TraceEnvironment,
  warn: (message: string, fields?: object) => void,
): Promise<Tracing | undefined> {
  if (!isTracingOn(environment, warn)) return undefined;
  const [sdk, { OTLPTraceExporter }, resources, core, { AsyncLocalStorageContextManager }] =
    await Promise.all([
      import("@opentelemetry/sdk-trace"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
      import("@opentelemetry/core"),
      import("@opentelemetry/context-async-hooks"),
    ]);
  let warnedAt = Number.NEGATIVE_INFINITY;
  const exportFailed = (error: unknown) => {
    if (performance.now() - warnedAt < WARNING_INTERVAL) return;
    warnedAt = performance.now();
    warn("cannot export spans", {
      endpoint: traceEndpoint(environment),
      cause: exportCause(error),
    });
  };
  core.setGlobalErrorHandler(exportFailed);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

  const { name, ratio, parentBased } = samplerSetting(environment, warn);
  const root = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(ratio),
  }[name]();
  const fallback = resources.resourceFromAttributes({ "service.name": NAME });
  const provider = new sdk.TracerProvider({
    resource: resources
      .defaultResource()
      .merge(fallback)
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    sampler: parentBased ? new sdk.ParentBasedSampler({ root }) : root,
    spanProcessors: [
      new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter(), ...spanQueue(environment) }),
    ],
  });
  const tracer = provider.getTracer(NAME);
  return {
    tracer,
    traceCall: createCallTraces(tracer, new core.W3CTraceContextPropagator()),
    stop: () => provider.shutdown().catch(exportFailed),
  };
}

/** Why an export failed: the message and the code, which may be an HTTP status. Not the body. */
function exportCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as Error & { readonly code?: unknown };
  const message = error.message || error.name; // Node leaves it empty if it tried several addresses
  return code === undefined || message.includes(String(code)) ? message : `${message} (${code})`;
}
