/** The log line of a call: one JSON object per call, without anything the caller sent as data. */
import { status } from "@grpc/grpc-js";
import type { Logger } from "pino";
import type { ServiceError } from "../errors.ts";

/** What is known of a call when it is over. */
export interface CallRecord {
  readonly requestId: string;
  /** "rest", "connect", "grpc-web" or "grpc". */
  readonly protocol: string;
  /** The RPC's name: "GetOverview". */
  readonly method: string;
  /** Undefined where the caller was not recognised. */
  readonly providerId: string | undefined;
  readonly milliseconds: number;
  /** Undefined where the call succeeded. */
  readonly error: ServiceError | undefined;
}

/** Writes the line. What went wrong inside is told with its cause; a caller's mistake is not an error. */
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
  switch (error.kind) {
    case "internal":
      log.error({ ...line, reason: error.kind, cause: describeCause(error.cause) }, "call failed");
      break;
    case "databaseUnavailable":
    case "deadlineExceeded":
    case "overloaded":
    case "tooManyCalls":
      log.warn({ ...line, reason: error.kind, cause: describeCause(error.cause) }, "call failed");
      break;
    default:
      log.info({ ...line, reason: error.kind }, "call refused");
  }
}

/**
 * The parts of an error that are worth a line and safe in it: a driver's error also holds the
 * statement with its values.
 */
function describeCause(cause: unknown): Record<string, unknown> | undefined {
  if (cause === undefined) return undefined;
  if (!(cause instanceof Error)) return { message: String(cause) };
  const { code, errno, sqlState, sqlMessage } = cause as Error & Record<string, unknown>;
  return {
    type: cause.name,
    message: sqlMessage ?? cause.message,
    code,
    errno,
    sqlState,
    stack: cause.stack?.match(/^ {4}at .*/gm)?.join("\n"),
  };
}
