/**
 * The log of what may happen thousands of times a second without a call: a connection refused
 * because of a limit, a stream refused, a slow reader closed.
 */
import type { Log } from "./log.ts";
import { createSampling } from "./sampling.ts";

/** How long the events of one name are counted together, in ms. */
const EVENT_INTERVAL = 10_000;
/** The most events with lines of their own; further ones are counted together. */
const MAX_EVENTS = 32;
const OTHER = "other";

/** What is logged of events that are no limit: a scanner, or a client that was set up wrongly. */
const MESSAGES: Readonly<Record<string, string>> = {
  tlsHandshakeFailed: "a TLS handshake failed",
  tlsHandshakeTimeout: "a TLS handshake was not complete in time",
  tlsOnPlainPort: "a client spoke TLS to a port without TLS",
  notHttp2: "a client of the gRPC port did not speak HTTP/2",
};

/** Reports that an event happened. Events are a few fixed strings, without data of a request. */
export type ReportEvent = (event: string) => void;

/**
 * Creates the log of events: limits at `warn`, others at `info`. The first of an event is logged at once, and the sum
 * of the others an interval later. Then it begins anew.
 *
 * @param interval in ms
 * @param count called with each event, or with `other`
 */
export function createEventLog(
  log: Log,
  interval = EVENT_INTERVAL,
  count: ReportEvent = () => {},
): ReportEvent {
  const logSum = (event: string, count: number, seconds: number) => {
    const fields = { event, count, seconds };
    const message = MESSAGES[event];
    if (message === undefined) log.warn(fields, "a limit was reached");
    else log.info(fields, message);
  };
  const isFirst = createSampling({ window: interval, limit: () => 1, logSum });
  const known = new Set<string>();
  return (reported) => {
    if (known.size < MAX_EVENTS) known.add(reported);
    const event = known.has(reported) ? reported : OTHER;
    count(event);
    if (isFirst(event)) logSum(event, 1, 0);
  };
}
