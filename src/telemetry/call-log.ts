/**
 * The log line of a call: one JSON object per call, without its key.
 */
import { status } from "@grpc/grpc-js";
import type { ServiceError, ServiceErrorKind } from "../errors.ts";
import type { CallerKey } from "../handler.ts";
import { errorFields } from "./error-fields.ts";
import type { Log } from "./log.ts";
import { createSampledLog } from "./sampled-log.ts";

/** What is known of a call when it ends. */
export interface CallRecord {
  readonly requestId: string;
  /** "rest", "connect", "grpc-web" or "grpc". */
  readonly protocol: string;
  /** The RPC's name: "GetOverview". */
  readonly method: string;
  /** Undefined if the caller was not authenticated. */
  readonly key: CallerKey | undefined;
  /** The provider that was asked about. Undefined if the caller was not authenticated, or may not ask. */
  readonly providerId: string | undefined;
  /**
   * The fields of the request that were set, as texts that are short and safe to log. Undefined if there is
   * none, or the request could not be decoded.
   */
  readonly asked?: Readonly<Record<string, string>> | undefined;
  readonly milliseconds: number;
  /** Undefined if the call succeeded. */
  readonly error: ServiceError | undefined;
  /** Whether it is `deadlineExceeded` because the caller allowed too little time: no failure of the service. */
  readonly isCallersDeadline?: boolean;
  /** The trace that the call belongs to, in hexadecimal, if there is one. */
  readonly traceId?: string | undefined;
  /** Whether the run of another call answered it. */
  readonly coalesced?: boolean;
}

/** Logs a call that has ended. */
export type LogCall = (record: CallRecord) => void;

/**
 * Creates the log of calls: at level `error` if the service is at fault, `warn` if it is slow, without
 * its database or at a limit, `info` otherwise. The line of an error names the field that was refused. It has no
 * message, because `asked` has what came, and a cause at `error` and `warn` only. Each call that succeeded has a line;
 * those that failed for one reason are sampled.
 */
export function createCallLog(log: Log): LogCall {
  const failures = createSampledLog(log, { by: "reason" });
  return ({ key, milliseconds, error, ...record }) => {
    const { requestId, traceId, protocol, method, providerId, asked } = record;
    const code = error ? status[error.entry.code] : "OK";
    const ms = Math.round(milliseconds * 10) / 10;
    const called = { requestId, traceId, protocol, method, key: caller(key), providerId, asked };
    const line = { ...called, code, ms };
    if (!error) {
      log.info(line, "call");
      return;
    }
    const { kind, cause } = error;
    const reason = record.isCallersDeadline ? "callersDeadline" : kind;
    const level = record.isCallersDeadline ? "info" : levelOf(kind);
    if (level === "info") {
      failures.info({ ...line, reason, field: error.field }, "call refused");
    } else {
      const fields = cause === undefined ? undefined : errorFields(cause);
      failures[level]({ ...line, reason, cause: fields }, "call failed");
    }
  };
}

/** Who calls. The names of providers' keys are their own free text. */
function caller(key: CallerKey | undefined) {
  if (key === undefined) return undefined;
  const { id, kind } = key;
  return kind === "service" ? { id, kind, name: key.name } : { id, kind };
}

function levelOf(reason: ServiceErrorKind): "error" | "warn" | "info" {
  switch (reason) {
    case "internal":
      return "error";
    case "databaseUnavailable":
    case "deadlineExceeded":
    case "overloaded":
    case "tooManyCalls":
    case "tooManyFailures":
    case "rateLimited":
      return "warn";
    default:
      return "info";
  }
}
