/** The log: JSON lines on stdout, one object each, times in UTC. */
import { type Logger, pino, stdTimeFunctions } from "pino";
import type { Config } from "../config.ts";
import { createLogOutput, type LogOutput } from "./log-output.ts";
import { openStdout } from "./stdout.ts";

/** A log, as the parts of the service use it. Messages are fixed strings. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** How long the exit of the process waits for a slow reader of the last lines, in ms. */
const MAX_EXIT_WAIT = 500;

/** Creates the log of a process. The last lines are written to `output` when the process exits. */
export function createLog(
  level: Config["logLevel"],
  output: Omit<LogOutput, "dropped"> = createLogOutput(openStdout()),
): Logger {
  // Also after `process.exit()` and after an uncaught exception.
  process.once("exit", () => output.flushSync(MAX_EXIT_WAIT));
  return pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    output,
  );
}
