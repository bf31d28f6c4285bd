/**
 * The log of what may happen thousands of times a second without a call: a connection refused
 * because of a limit, a stream refused, a slow reader closed.
 */
import type { Logger } from "pino";
import { createSampling } from "./sampling.ts";

/** How long the events of one name are counted together, in ms. */
const EVENT_INTERVAL = 10_000;
/** The most events with lines of their own; further ones are counted together. */
const MAX_EVENTS = 32;
const OTHER = "other";

/** Reports that an event happened. Events are a few fixed strings, without data of a request. */
export type ReportEvent = (event: string) => void;

/**
 * Creates the log of events, at level `warn`. The first of an event is logged at once, and the sum
 * of the others an interval later. Then it begins anew.
 *
 * @param interval in ms
 * @param count called with each event, or with `other`
 */
export function createEventLog(
  log: Logger,
  interval = EVENT_INTERVAL,
  count: ReportEvent = () => {},
): ReportEvent {
  const logSum = (event: string, count: number, seconds: number) =>
    log.warn({ event, count, seconds }, "a limit was reached");
  const isFirst = createSampling({ window: interval, limit: () => 1, logSum });
  const known = new Set<string>();
  return (reported) => {
    if (known.size < MAX_EVENTS) known.add(reported);
    const event = known.has(reported) ? reported : OTHER;
    count(event);
    if (isFirst(event)) logSum(event, 1, 0);
  };
}
