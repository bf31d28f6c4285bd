/** A logger like the service's that collects its lines in memory. */
import { type Logger, pino } from "pino";

/** A logger and what was logged. */
export interface CollectedLog {
  readonly log: Logger;
  /** Every line so far, as it would appear on stdout. */
  readonly lines: readonly string[];
  /** Every line so far, parsed. */
  entries(): Record<string, unknown>[];
}

/** Creates a logger with an empty collection. Its lines have no timestamps. */
export function collectLog(): CollectedLog {
  const lines: string[] = [];
  const log = pino(
    { base: null, timestamp: false, formatters: { level: (label) => ({ level: label }) } },
    { write: (line) => void lines.push(line) },
  );
  return { log, lines, entries: () => lines.map((line) => JSON.parse(line)) };
}
