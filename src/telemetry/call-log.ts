/** The log line of a call: one JSON object per call, without its key and request data. */
import { status } from "@grpc/grpc-js";
import type { Logger } from "pino";
import type { ServiceError } from "../errors.ts";
import { errorFields } from "./error-fields.ts";

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
}

/**
 * Logs a call: at level `error` if the service is at fault, `warn` if it is overloaded, slow or
 * without its database, `info` otherwise. Messages of errors may quote the request and are left
 * out; causes are logged for the first two.
 */
export function logCall(log: Logger, record: CallRecord): void {
  const { error } = record;
  const line = {
    requestId: record.requestId,
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
  const cause = error.cause === undefined ? undefined : errorFields(error.cause);
  switch (reason) {
    case "internal":
      log.error({ ...line, reason, cause }, "call failed");
      break;
    case "databaseUnavailable":
    case "deadlineExceeded":
    case "overloaded":
    case "tooManyCalls":
      log.warn({ ...line, reason, cause }, "call failed");
      break;
    default:
      log.info({ ...line, reason }, "call refused");
  }
}
