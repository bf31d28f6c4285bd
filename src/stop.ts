/** How the service stops: the public ports first, and then the others. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { errorFields } from "./telemetry/error-fields.ts";

/** How long all else may take to close, in ms: pools wait for a database that hangs. */
const CLOSE_GRACE = 1_000;

/** The steps of a stop, in order. */
interface Steps {
  /** Makes the service not ready, while the ports still answer. */
  readonly announce: () => void;
  /** Stops the public ports; calls that are open have `grace` ms to end. */
  readonly stopPorts: (grace: number) => Promise<unknown>;
  /** Closes all else. */
  readonly close: () => Promise<unknown>;
}

/**
 * Stops the service, and then the process, at SIGINT or an uncaught error. Returns what SIGTERM does: the
 * same, after the lame duck, in which the service is not ready and answers all the same.
 */
export function stopOnSignals(
  { lameDuck, grace }: Pick<Config, "lameDuck" | "grace">,
  log: Logger,
  steps: Steps,
): () => unknown {
  let stopping = false;
  const endOfLameDuck = new AbortController();
  const stop = async (reason: object, lameDuckMs = 0) => {
    if (lameDuckMs === 0) endOfLameDuck.abort();
    if (stopping) return;
    stopping = true;
    steps.announce();
    log.info({ ...reason, lameDuckMs, graceMs: grace }, "stopping");
    try {
      await sleep(lameDuckMs, undefined, { signal: endOfLameDuck.signal }).catch(() => {});
      await steps.stopPorts(grace);
      await Promise.race([steps.close(), sleep(CLOSE_GRACE)]);
      log.info("stopped");
    } catch (error) {
      process.exitCode = 1;
      log.error(errorFields(error), "stop failed");
    } finally {
      process.exit();
    }
  };
  // A reload, or a terminal that was closed: neither is a reason to stop.
  process.on("SIGHUP", (signal) => log.info({ signal }, "nothing to do"));
  // A person at a terminal, who would not want to wait.
  process.on("SIGINT", (signal) => stop({ signal }));
  // The state of the process is unknown after an uncaught error, so the process is replaced.
  process.on("uncaughtException", (error, origin) => {
    process.exitCode = 1;
    log.fatal(errorFields(error), "uncaught error");
    stop({ reason: origin });
  });
  return () => stop({ signal: "SIGTERM" }, lameDuck);
}
