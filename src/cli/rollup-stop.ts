/** The stop of `npm run rollup`. */
import type { Log } from "../telemetry/log.ts";

/**
 * The longest stop after a signal, in ms: a database that is silent would hold it up for ever. The pool
 * gives up a connection after 5 s.
 */
const STOP_GRACE = 10_000;

/**
 * Aborts at SIGTERM, SIGINT or SIGHUP: the command then ends after the piece of work that it is at, or after
 * a grace. A second SIGINT ends it at once. Either loses that piece, and no more.
 */
export function stopOnSignal(log: Log): AbortController {
  const stop = new AbortController();
  const abort = () => {
    stop.abort();
    setTimeout(() => {
      const text = `the database did not answer within ${STOP_GRACE / 1_000} s of the signal`;
      log.warn({}, text);
      process.exit(1);
    }, STOP_GRACE).unref();
  };
  process.once("SIGTERM", abort);
  process.once("SIGINT", abort);
  process.once("SIGHUP", abort);
  return stop;
}
