/** Metrics of calls, whatever their protocol, and of requests on the HTTP port. */
import { status } from "@grpc/grpc-js";
import type { ServiceError, ServiceErrorKind } from "../../errors.ts";
import type { CallRecord } from "../call-log.ts";
import { addCounter, addDurations, addGauge, type MetricsRegistry } from "./registry.ts";

/** The refusals that protect the service or other callers. */
const SHED = ["overloaded", "tooManyCalls", "rateLimited", "tooManyFailures"] as const;
/** The outcomes of a failed authentication. */
const UNAUTHENTICATED = ["unauthenticated", "tooManyFailures"] as const;

/** Measures calls. */
export type CallMetrics = ReturnType<typeof addCallMetrics>;

const codeOf = (error?: ServiceError) =>
  error === undefined ? "OK" : (status[error.entry.code] ?? "UNKNOWN");

/** Adds the metrics of calls to a registry. */
export function addCallMetrics(registry: MetricsRegistry) {
  let active = 0;
  const durations = addDurations(registry, {
    name: "rpc_server_call_duration_seconds",
    help: "Time from the headers of a call to its result, by its gRPC status code (CALLERS_DEADLINE: the caller allowed too little time) and the kind of its API key.",
    labels: ["method", "protocol", "status", "key"],
  });
  addGauge(
    registry,
    { name: "rpc_server_active_calls", help: "Calls that have arrived and have not ended." },
    () => active,
  );
  const shed = addCounter(registry, {
    name: "rpc_server_shed_calls_total",
    help: "Calls that were refused because of a limit.",
    labels: ["reason"],
  });
  const coalesced = addCounter(registry, {
    name: "rpc_server_coalesced_calls_total",
    help: "Calls that were answered by the run of another call.",
  });
  const unauthenticated = addCounter(registry, {
    name: "revenue_authentication_failures_total",
    help: "Calls without a valid API key.",
    labels: ["reason"],
  });
  for (const reason of SHED) shed.inc({ reason }, 0);
  for (const reason of UNAUTHENTICATED) unauthenticated.inc({ reason }, 0);

  const includes = (kinds: readonly ServiceErrorKind[], kind: ServiceErrorKind) =>
    kinds.includes(kind);
  return {
    /** A call has arrived. Each that has must end. */
    started: () => active++,
    ended(call: CallRecord) {
      const { method, protocol, key, error, isCallersDeadline, milliseconds } = call;
      active--;
      const code = isCallersDeadline ? "CALLERS_DEADLINE" : codeOf(error);
      const labels = { method, protocol, status: code, key: key?.kind ?? "none" };
      durations.observe(labels, milliseconds / 1_000);
      if (call.coalesced) coalesced.inc();
      if (error === undefined) return;
      const { kind: reason } = error;
      if (includes(SHED, reason)) shed.inc({ reason });
      if (includes(UNAUTHENTICATED, reason)) unauthenticated.inc({ reason });
    },
  };
}

/** A request on the HTTP port that has ended. */
export interface HttpRequestRecord {
  /** Any method. */
  readonly method: string;
  /** The template of the path; undefined if no route matched. */
  readonly route: string | undefined;
  /** The HTTP status; undefined if the connection closed before a response. */
  readonly status: number | undefined;
  /** From the request's headers to the end of its response. */
  readonly milliseconds: number;
}

/** Measures a request on the HTTP port that has ended. */
export type ObserveHttpRequest = (request: HttpRequestRecord) => void;

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Adds the metrics of requests on the HTTP port to a registry. */
export function addHttpMetrics(registry: MetricsRegistry): ObserveHttpRequest {
  const durations = addDurations(registry, {
    name: "http_server_request_duration_seconds",
    help: "Time from the headers of a request on the HTTP port to the end of its response.",
    labels: ["method", "route", "status"],
  });
  return ({ method, route = "", status: code, milliseconds }) =>
    durations.observe(
      {
        method: METHODS.has(method) ? method : "_OTHER",
        route,
        status: code === undefined ? "" : String(code),
      },
      milliseconds / 1_000,
    );
}
