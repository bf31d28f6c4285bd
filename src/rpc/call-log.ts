/** The log line of a call: one JSON object per call, without anything the caller sent as data. */
import { status } from "@grpc/grpc-js";
import type { Logger } from "pino";
import type { Failure } from "../failure.ts";
import type { Door } from "./call.ts";

/** What is known of a call when it is over. */
export interface CallRecord {
  readonly requestId: string;
  readonly door: Door;
  /** The RPC's name: "GetOverview". */
  readonly method: string;
  /** Undefined where the caller was not recognised. */
  readonly providerId: string | undefined;
  readonly milliseconds: number;
  /** Undefined where the call succeeded. */
  readonly failure: Failure | undefined;
}

/** Writes the line. What went wrong inside is told with its cause; a caller's mistake is not an error. */
export function logCall(log: Logger, record: CallRecord): void {
  const { failure } = record;
  const line = {
    requestId: record.requestId,
    door: record.door,
    method: record.method,
    providerId: record.providerId,
    code: failure ? status[failure.entry.code] : "OK",
    ms: Math.round(record.milliseconds * 10) / 10,
  };
  if (!failure) {
    log.info(line, "call");
    return;
  }
  switch (failure.kind) {
    case "internal":
      log.error(
        { ...line, reason: failure.kind, cause: describeCause(failure.cause) },
        "call failed",
      );
      break;
    case "databaseAway":
    case "deadlineExceeded":
    case "overloaded":
    case "tooManyCalls":
      log.warn(
        { ...line, reason: failure.kind, cause: describeCause(failure.cause) },
        "call failed",
      );
      break;
    default:
      log.info({ ...line, reason: failure.kind }, "call refused");
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
