/**
 * The log line of a call: one JSON object per call, without its key and request data. Calls that
 * fail are sampled: callers cannot fill the disk, and neither can a database that is away.
 */
import { status } from "@grpc/grpc-js";
import type { ServiceError, ServiceErrorKind } from "../errors.ts";
import { errorFields } from "./error-fields.ts";
import type { Log } from "./log.ts";
import { createSampling } from "./sampling.ts";

/** What is known of a call when it ends. */
export interface CallRecord {
  readonly requestId: string;
  /** "rest", "connect", "grpc-web" or "grpc". */
  readonly protocol: string;
  /** The RPC's name: "GetOverview". */
  readonly method: string;
  /** Undefined if the caller was not authenticated. */
  readonly providerId: string | undefined;
  readonly milliseconds: number;
  /** Undefined if the call succeeded. */
  readonly error: ServiceError | undefined;
  /** The trace that the call belongs to, in hexadecimal, if there is one. */
  readonly traceId?: string | undefined;
  /** Whether that trace is recorded. */
  readonly sampled?: boolean;
  /** Whether the run of another call answered it. */
  readonly coalesced?: boolean;
}

/** The refused calls of one reason that are logged one by one, per second. */
export const REFUSALS_PER_SECOND = 20;
/** The calls of one reason that failed by a fault of ours and are logged one by one, per second. */
export const FAULTS_PER_SECOND = 100;

/** Logs a call that has ended. */
export type LogCall = (record: CallRecord) => void;

/**
 * Creates the log of calls. Every call that succeeded has its line. Of those that failed with one
 * reason, so many per second have theirs, and one line per second holds the sum of the others.
 */
export function createCallLog(log: Log): LogCall {
  const passes = createSampling<ServiceErrorKind>({
    window: 1_000,
    limit: (reason) => (isFault(reason) ? FAULTS_PER_SECOND : REFUSALS_PER_SECOND),
    logSum(reason, count, seconds) {
      const level = levelOf(reason);
      const msg = level === "info" ? "more calls refused" : "more calls failed";
      log[level]({ reason, count, seconds }, msg);
    },
  });
  return (record) => {
    if (record.error === undefined || passes(record.error.kind)) logCall(log, record);
  };
}

/**
 * Logs a call: at level `error` if the service is at fault, `warn` if it is slow, without its
 * database or at a limit, `info` otherwise. Messages of errors may quote the request and are left
 * out; causes are logged for the first two.
 */
export function logCall(log: Log, record: CallRecord): void {
  const { error } = record;
  const line = {
    requestId: record.requestId,
    traceId: record.traceId,
    protocol: record.protocol,
    method: record.method,
    providerId: record.providerId,
    code: error ? status[error.entry.code] : "OK",
    ms: Math.round(record.milliseconds * 10) / 10,
  };
  if (!error) {
    log.info(line, "call");
    return;
  }
  const reason = error.kind;
  const level = levelOf(reason);
  if (level === "info") {
    log.info({ ...line, reason }, "call refused");
  } else {
    const cause = error.cause === undefined ? undefined : errorFields(error.cause);
    log[level]({ ...line, reason, cause }, "call failed");
  }
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

/** Whether a call failed although neither its caller nor a limit refused it. */
function isFault(reason: ServiceErrorKind): boolean {
  return ["internal", "databaseUnavailable", "deadlineExceeded"].includes(reason);
}
