/**
 * The log of what may happen thousands of times a second without a call: a connection refused
 * because of a limit, a stream refused, a slow reader closed.
 */
import type { Log } from "./log.ts";
import { createSampledLog } from "./sampled-log.ts";

/** What is logged of events that are no limit: a scanner, or a client that was set up wrongly. */
const MESSAGES: Readonly<Record<string, string>> = {
  tlsHandshakeFailed: "a TLS handshake failed",
  tlsHandshakeTimeout: "a TLS handshake was not complete in time",
};

/**
 * Reports that an event happened. Events are a few fixed strings, without data of a request; `fields` are
 * logged with the line, and made for it by `toJSON`.
 */
export type ReportEvent = (event: string, fields?: object) => void;

/**
 * Creates the log of events: limits at `warn`, others at `info`. The first of an event is logged at once,
 * and the sum of the others ten seconds later. Then it begins anew.
 *
 * @param count called with each event
 */
export function createEventLog(log: Log, count: ReportEvent = () => {}): ReportEvent {
  const sampled = createSampledLog(log, { by: "event", limit: 1, window: 10_000 });
  return (event, fields) => {
    count(event);
    const message = MESSAGES[event];
    if (message === undefined) sampled.warn({ event, ...fields }, "a limit was reached");
    else sampled.info({ event }, message);
  };
}
