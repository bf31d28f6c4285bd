/** The log: JSON lines on stdout, one object each, times in UTC. */
import { type Logger, pino, stdTimeFunctions } from "pino";
import type { LogLevel } from "../config.ts";

/** Creates the log of a process. It writes synchronously, so no line is lost at exit. */
export function createLog(level: LogLevel): Logger {
  return pino({
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}
