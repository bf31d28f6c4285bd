/** The log: JSON lines on stdout, one object each, times in UTC. */
import { type Logger, pino, stdTimeFunctions } from "pino";
import type { Config } from "../config.ts";

/** Creates the log of a process. It writes synchronously, so no line is lost at exit. */
export function createLog(level: Config["logLevel"]): Logger {
  return pino({
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}
