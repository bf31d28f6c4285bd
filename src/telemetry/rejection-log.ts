/** The log of requests that never become a call, sampled: a flood of them does not fill the disk. */
import type { Log } from "./log.ts";
import { createSampling } from "./sampling.ts";

/** The lines logged one by one per second: rejections with one status, errors with one message. */
const REJECTIONS_PER_SECOND = 20;

/** The fields that tell rejections apart. */
interface Rejection {
  readonly protocol?: string;
  readonly status?: number;
}

/** Counts a rejected request, by its HTTP status. */
type CountRejection = (protocol: string, status: string) => void;

/**
 * Returns a log that passes on so many lines per second, and one line per second with the sum of
 * the others. Messages must be fixed strings.
 */
export function sampleRejections(log: Log, count: CountRejection = () => {}): Log {
  const window = 1_000;
  const limit = () => REJECTIONS_PER_SECOND;
  const passesStatus = createSampling<number | undefined>({
    window,
    limit,
    logSum: (status, count, seconds) =>
      log.info({ status, count, seconds }, "more requests rejected"),
  });
  const passesError = createSampling<string>({
    window,
    limit,
    logSum: (message, count, seconds) => log.error({ count, seconds }, `more: ${message}`),
  });
  return {
    info(fields, message) {
      const { protocol = "", status } = fields as Rejection;
      count(protocol, String(status));
      if (passesStatus(status)) log.info(fields, message);
    },
    warn: (fields, message) => log.warn(fields, message),
    error(fields, message) {
      if (passesError(message)) log.error(fields, message);
    },
  };
}
