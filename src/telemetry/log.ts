/** The log: JSON lines on stdout, one object each, times in UTC. */
import { type Logger, pino, stdTimeFunctions } from "pino";
import type { LogLevel } from "../config.ts";

/** Makes the log of a process. Lines are written at once, so that none is lost at the end. */
export function createLog(level: LogLevel): Logger {
  return pino({
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
}
