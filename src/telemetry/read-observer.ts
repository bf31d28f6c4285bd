/**
 * Follows the reads of a pool: one measurement and one span for each wait for a connection, and for each
 * statement.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/database/database-spans/
 */
import {
  context,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { ReadMetrics } from "./metrics/database.ts";

/** Follows one read: its wait for a connection, and then its statements, one after the other. */
export interface ReadObservation {
  /** It sends a statement, by its short name. */
  sent(operation: string): void;
  /** The wait, or the statement, has ended: with an error if it failed, or if the caller has left. */
  ended(error?: unknown): void;
}

/** Starts to follow a read. */
export type ObserveRead = () => ReadObservation;

/** A statement or a wait that goes on. */
interface Step {
  end(): void;
  readonly span: Span | undefined;
}

/**
 * Creates the observer of a pool.
 *
 * @param metrics undefined if reads are not measured
 * @param tracer undefined if there are no traces
 */
export function createReadObserver(metrics?: ReadMetrics, tracer?: Tracer): ObserveRead {
  return () => {
    const parent = context.active();
    // Only recorded calls are in the context.
    const traces = trace.getSpan(parent) === undefined ? undefined : tracer;
    const begin = (ended: (ms: number) => void, name: string, options: SpanOptions = {}): Step => {
      const startedAt = performance.now();
      const span = traces?.startSpan(name, options, parent);
      return { span, end: () => ended(performance.now() - startedAt) };
    };
    metrics?.waits();
    const waited = (ms: number) => metrics?.waited(ms);
    let step: Step | undefined = begin(waited, "wait for a connection");

    return {
      sent(operation) {
        const attributes = {
          "db.system.name": "mysql",
          "db.operation.name": "SELECT",
          "db.query.summary": operation,
        };
        const ran = (ms: number) => metrics?.ran(operation, ms);
        step = begin(ran, operation, { kind: SpanKind.CLIENT, attributes });
      },
      // Nothing goes on if a caller has left before, or if the read is tried again.
      ended(error) {
        if (error !== undefined) step?.span?.setStatus({ code: SpanStatusCode.ERROR });
        step?.span?.end();
        step?.end();
        step = undefined;
      },
    };
  };
}
