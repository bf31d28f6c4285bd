/**
 * The log of `npm run rollup`: lines for a person on a terminal, otherwise JSON lines on stdout, as those of
 * the service. A line has a fixed message; `text` among its fields says the same in a sentence, for a terminal.
 */
import { redactKeys } from "../auth/api-key.ts";
import type { Config } from "../config.ts";
import { createLog, type Log } from "../telemetry/log.ts";

/** Creates the log of runs. The level is that of JSON lines; a person sees all. */
export function createRollupLog(
  logLevel: Config["logLevel"],
  isTerminal = process.stdout.isTTY,
): Log {
  return isTerminal ? createTerminalLog() : withoutKeys(createLog(logLevel));
}

/** The same log without sentences for a person, and without API keys in the texts of its fields. */
export function withoutKeys(log: Log): Log {
  const redact = (_: string, value: unknown) =>
    typeof value === "string" ? redactKeys(value) : value;
  const write =
    (level: keyof Log) =>
    ({ text: _, ...fields }: { readonly text?: string }, message: string) =>
      log[level](JSON.parse(JSON.stringify(fields, redact)), message);
  return { info: write("info"), warn: write("warn"), error: write("error") };
}

/** Creates a log for a person: what happened on stdout, the rest on stderr, above the progress bar. */
export function createTerminalLog(): Log {
  const lineOf = ({ text, ...fields }: { readonly text?: string }, message: string) =>
    redactKeys(text ?? `${message}: ${JSON.stringify(fields)}`);
  return {
    info: (fields, message) => console.log(lineOf(fields, message)),
    warn: (fields, message) => console.error(lineOf(fields, message)),
    error: (fields, message) => console.error(`error: ${lineOf(fields, message)}`),
  };
}

/** Returns a function that logs a warning the first time. */
export function warnOnceTo(log: Log): (warning: string) => void {
  const warned = new Set<string>();
  return (warning) => {
    if (!warned.has(warning)) log.warn({ text: warning, warning }, "warning");
    warned.add(warning);
  };
}
