/**
 * OpenTelemetry's SDK for traces. It is loaded and started only where the environment asks for it,
 * by the standard variables; a process without them pays nothing. `@opentelemetry/sdk-node`, which reads more of them
 * itself, would bring 22 packages.
 *
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
import { context } from "@opentelemetry/api";
import { errorFields } from "../error-fields.ts";
import type { Log } from "../log.ts";
import { createSampledLog } from "../sampled-log.ts";
import { createCallTraces } from "./call-trace.ts";
import { isTracingOn, samplerSetting, type TraceEnvironment } from "./settings.ts";

const NAME = "revenue-service";
/** In so many ms, failed exports have one line, and one with their count. */
const FAILURE_WINDOW = 60_000;

/**
 * Starts the SDK; resolves to undefined if the environment does not ask for it. The exporter and
 * the resource read their variables themselves. Spans that cannot be exported are dropped.
 *
 * @param log gets mistakes in the variables, and failed exports
 */
export async function startTracing(environment: TraceEnvironment, log: Log) {
  const warn = (message: string) => log.warn({}, message);
  if (!isTracingOn(environment, warn)) return undefined;
  const [sdk, { OTLPTraceExporter }, resources, core, { AsyncLocalStorageContextManager }] =
    await Promise.all([
      import("@opentelemetry/sdk-trace"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
      import("@opentelemetry/core"),
      import("@opentelemetry/context-async-hooks"),
    ]);
  const failures = createSampledLog(log, { limit: 1, window: FAILURE_WINDOW });
  const exportFailed = (error: unknown) =>
    failures.warn({ cause: errorFields(error) }, "cannot export spans");
  core.setGlobalErrorHandler(exportFailed);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

  const { name, ratio, parentBased } = samplerSetting(environment, warn);
  const root = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(ratio),
  }[name]();
  const fallback = resources.resourceFromAttributes({ "service.name": NAME });
  const atLeastOne = (name: string, byDefault: number) =>
    Math.max(core.getNumberFromEnv(name) ?? byDefault, 1);
  const provider = new sdk.TracerProvider({
    resource: resources
      .defaultResource()
      .merge(fallback)
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    sampler: parentBased ? new sdk.ParentBasedSampler({ root }) : root,
    spanProcessors: [
      // The defaults are OpenTelemetry's. Batches of none would never end.
      new sdk.BatchSpanProcessor({
        exporter: new OTLPTraceExporter(),
        maxQueueSize: atLeastOne("OTEL_BSP_MAX_QUEUE_SIZE", 2_048),
        maxExportBatchSize: atLeastOne("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512),
        scheduledDelayMillis: atLeastOne("OTEL_BSP_SCHEDULE_DELAY", 5_000),
        exportTimeoutMillis: atLeastOne("OTEL_BSP_EXPORT_TIMEOUT", 30_000),
      }),
    ],
  });
  const tracer = provider.getTracer(NAME);
  return {
    tracer,
    traceCall: createCallTraces(tracer, new core.W3CTraceContextPropagator()),
    /** Exports the spans that wait, and stops. */
    stop: () => provider.shutdown().catch(exportFailed),
  };
}
