/**
 * Follows the reads of a pool: one measurement and one span for each statement and for each wait
 * for a connection.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/database/database-spans/
 */
import {
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { ReadMetrics } from "./metrics/database.ts";

/** Follows one read. */
export interface ReadObservation {
  /** It has a connection. Called again if it is tried again on another one. */
  connected(): void;
  /** It has ended. The first call counts: its caller may leave while the rows wait for their turn. */
  ended(error?: unknown): void;
}

/** Starts to follow a read, by the short name of its statement. */
export type ObserveRead = (operation: string) => ReadObservation;

/**
 * Creates the observer of a pool.
 *
 * @param metrics undefined if reads are not measured
 * @param tracer undefined if there are no traces
 */
export function createReadObserver(metrics?: ReadMetrics, tracer?: Tracer): ObserveRead {
  return (operation) => {
    const parent = context.active();
    // Only recorded calls are in the context.
    const traces = trace.getSpan(parent) === undefined ? undefined : tracer;
    const startedAt = performance.now();
    let connectedAt: number | undefined;
    let hasEnded = false;
    let span: Span | undefined = traces?.startSpan("wait for a connection", {}, parent);
    metrics?.waits();

    return {
      connected() {
        // A caller that has left may get its connection afterwards.
        if (hasEnded || connectedAt !== undefined) return;
        connectedAt = performance.now();
        metrics?.waited(connectedAt - startedAt);
        span?.end();
        const attributes = {
          "db.system.name": "mysql",
          "db.operation.name": "SELECT",
          "db.query.summary": operation,
        };
        span = traces?.startSpan(operation, { kind: SpanKind.CLIENT, attributes }, parent);
      },
      ended(error) {
        if (hasEnded) return;
        hasEnded = true;
        if (error !== undefined) span?.setStatus({ code: SpanStatusCode.ERROR });
        span?.end();
        const now = performance.now();
        if (connectedAt === undefined) metrics?.waited(now - startedAt);
        else metrics?.ran(operation, now - connectedAt);
      },
    };
  };
}
