/**
 * The log of `npm run rollup`: JSON lines on stdout, as those of the service. On a terminal they are shown to a person:
 * the message and its fields, what happened on stdout and the rest on stderr, above the progress bar.
 */
import { redactKeys } from "../auth/api-key.ts";
import type { Config } from "../config.ts";
import { createLog, type Log } from "../telemetry/log.ts";

/** Creates the log. No field of a line has an API key. */
export function createRollupLog(
  logLevel: Config["logLevel"],
  isTerminal = process.stdout.isTTY,
): Log {
  const log = createLog(logLevel, isTerminal ? { write: show, flushSync() {} } : undefined);
  const redact = (_: string, value: unknown) =>
    typeof value === "string" ? redactKeys(value) : value;
  const write = (level: keyof Log) => (fields: object, message: string) =>
    log[level](JSON.parse(JSON.stringify(fields, redact)), message);
  return { info: write("info"), warn: write("warn"), error: write("error") };
}

/** Shows a line to a person, without the fields that have fields of their own: those of an error. */
function show(line: string): void {
  const { level, time: _, msg, ...fields } = JSON.parse(line);
  const texts = Object.entries(fields)
    .filter(([, value]) => typeof value !== "object" || Array.isArray(value))
    .map(([name, value]) => `${name} ${value}`);
  const text = texts.length > 0 ? `${msg}: ${texts.join(", ")}` : msg;
  if (level === "info") console.log(text);
  else console.error(`${level}: ${text}`);
}

/** Returns a function that logs a warning the first time. */
export function warnOnceTo(log: Log): (warning: string) => void {
  const warned = new Set<string>();
  return (warning) => {
    if (!warned.has(warning)) log.warn({}, warning);
    warned.add(warning);
  };
}
