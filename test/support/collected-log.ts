/** A log like the service's own whose lines a test can read. */
import { type Logger, pino } from "pino";

export interface CollectedLog {
  readonly log: Logger;
  /** Every line so far, as it would stand on stdout. */
  readonly lines: readonly string[];
  /** The lines, parsed. */
  entries(): Record<string, unknown>[];
}

/** Makes a log that is kept in memory, without times. */
export function collectLog(): CollectedLog {
  const lines: string[] = [];
  const log = pino(
    { base: null, timestamp: false, formatters: { level: (label) => ({ level: label }) } },
    { write: (line) => void lines.push(line) },
  );
  return { log, lines, entries: () => lines.map((line) => JSON.parse(line)) };
}
