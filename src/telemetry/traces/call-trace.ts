/**
 * The trace of a call: one span of kind SERVER, whatever the protocol, with the caller's span as its
 * parent. Spans that start while the call runs are its children.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/rpc/rpc-spans/
 */

import { status } from "@grpc/grpc-js";
import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { ServiceError } from "../../errors.ts";
import type { CallerKey } from "../../handler.ts";

/** The headers of W3C Trace Context, as the caller sent them. */
export interface TraceHeaders {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** What a span has of its call. */
export interface TracedCall {
  readonly method: { readonly name: string; readonly parent: { readonly typeName: string } };
  readonly protocol: string;
  readonly requestId: string;
  readonly trace?: TraceHeaders | undefined;
}

/** The trace of a running call. */
export interface CallTrace {
  /** In hexadecimal. */
  readonly traceId: string;
  /** Runs work whose spans belong to the call. */
  within<T>(work: () => T): T;
  /** Ends the span of a call, whose key is undefined if its caller was not authenticated. */
  end(error: ServiceError | undefined, key: CallerKey | undefined): void;
}

/** Runs work whose spans belong to a trace, if there is one. */
export function within<T>(trace: CallTrace | undefined, work: () => T): T {
  return trace === undefined ? work() : trace.within(work);
}

/** Starts the trace of a call. */
export type TraceCall = (call: TracedCall) => CallTrace;

const TRACEPARENT = /^(?!ff)[\da-f]{2}-((?!0{32})[\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(-|$)/;

/** The trace id in a `traceparent`, for a log line; undefined if there is none. */
export function traceIdOf(headers: TraceHeaders | undefined): string | undefined {
  return headers?.traceparent === undefined
    ? undefined
    : TRACEPARENT.exec(headers.traceparent)?.[1];
}

/** The systems of OpenTelemetry's conventions; REST has none. */
const SYSTEMS: Readonly<Record<string, string>> = {
  grpc: "grpc",
  "grpc-web": "grpc",
  connect: "connectrpc",
};

/** The codes that are errors for a server. All others are the caller's. */
const SERVER_ERRORS = new Set([
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.UNIMPLEMENTED,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
]);

/** Who calls. The names of providers' keys are their own free text. */
function attributesOf(key: CallerKey): Attributes {
  return {
    "revenue.key.id": key.id,
    "revenue.key.kind": key.kind,
    ...(key.kind === "service" && { "revenue.key.name": key.name }),
  };
}

/** Creates the traces of one process. */
export function createCallTraces(tracer: Tracer, propagator: TextMapPropagator): TraceCall {
  const carrier = {
    keys: (headers: TraceHeaders) => Object.keys(headers),
    get: (headers: TraceHeaders, name: string) => headers[name as keyof TraceHeaders],
  };
  return ({ method, protocol, requestId, trace: headers }) => {
    const parent: Context =
      headers?.traceparent === undefined
        ? ROOT_CONTEXT
        : propagator.extract(ROOT_CONTEXT, headers, carrier);
    const name = `${method.parent.typeName}/${method.name}`;
    const span = tracer.startSpan(
      name,
      {
        kind: SpanKind.SERVER,
        attributes: {
          "rpc.system.name": SYSTEMS[protocol] ?? protocol,
          "rpc.method": name,
          "revenue.protocol": protocol,
          "revenue.request_id": requestId,
        },
      },
      parent,
    );
    const { traceId } = span.spanContext();
    // The work of a call that is not recorded may start in the context of another that is.
    const inside = span.isRecording() ? trace.setSpan(ROOT_CONTEXT, span) : ROOT_CONTEXT;
    return {
      traceId,
      within: (work) => context.with(inside, work),
      end(error, key) {
        if (key !== undefined) span.setAttributes(attributesOf(key));
        const code = error?.entry.code;
        span.setAttribute(
          "rpc.response.status_code",
          code === undefined ? "OK" : (status[code] ?? "UNKNOWN"),
        );
        if (error) {
          span.setAttribute("error.type", error.kind);
          if (SERVER_ERRORS.has(error.entry.code as number)) {
            span.setStatus({ code: SpanStatusCode.ERROR });
          }
        }
        span.end();
      },
    };
  };
}
