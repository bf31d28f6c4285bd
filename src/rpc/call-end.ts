/** The end of a call, which comes once: its place is free, and it is traced, measured and logged. */
import { ServiceError } from "../errors.ts";
import type { CallerKey } from "../handler.ts";
import type { LogCall } from "../telemetry/call-log.ts";
import type { CallMetrics } from "../telemetry/metrics/calls.ts";
import { type CallTrace, traceIdOf } from "../telemetry/traces/call-trace.ts";
import type { Asked } from "./asked.ts";
import type { IncomingCall } from "./call.ts";
import type { Deadline } from "./deadline.ts";

/** What becomes known of a call, step by step. */
interface Known {
  key?: CallerKey;
  providerId?: string;
  asked?: Asked | undefined;
  /** Gives back the place of a call that was admitted. */
  release?: () => void;
}

/** Creates the function that opens a call, which has started at `started` in ms of `performance.now()`. */
export function createOpenCall(logCall: LogCall, metrics?: CallMetrics) {
  return (
    incoming: IncomingCall,
    started: number,
    deadline: Deadline,
    trace: CallTrace | undefined,
  ) => {
    const known: Known = {};
    let ended = false;
    // Anyone may send a short deadline. Its end is no failure of the service, and before the key is known none is.
    const isCallersDeadline = (error?: ServiceError) =>
      error?.kind === "deadlineExceeded" &&
      deadline.signal.aborted &&
      (deadline.isShort || (deadline.isCallers && known.key === undefined));
    /** Ends it, with an error or as a success. A second end does nothing. */
    const end = (error?: ServiceError, coalesced = false) => {
      if (ended) return;
      ended = true;
      deadline.clear();
      known.release?.();
      const milliseconds = performance.now() - started;
      trace?.end(error, known.key);
      const record = {
        requestId: incoming.requestId,
        protocol: incoming.protocol,
        method: incoming.method.name,
        key: known.key,
        providerId: known.providerId,
        asked: known.asked,
        milliseconds,
        error,
        isCallersDeadline: isCallersDeadline(error),
        traceId: trace?.traceId ?? traceIdOf(incoming.trace),
        coalesced,
      };
      metrics?.ended(record);
      logCall(record);
    };
    return {
      known,
      end,
      /** Ends it with whatever was thrown. Returns that as the error for the caller. */
      fail(thrown: unknown) {
        const error = ServiceError.from(thrown);
        end(error);
        return error;
      },
    };
  };
}
