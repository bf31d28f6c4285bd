/** A logger like the service's that collects its lines in memory. */
import { pino } from "pino";

/** Creates a logger with an empty collection. Its lines have no timestamps. */
export function collectLog() {
  const lines: string[] = [];
  const log = pino(
    { base: null, timestamp: false, formatters: { level: (label) => ({ level: label }) } },
    { write: (line) => void lines.push(line) },
  );
  /** Every line so far, parsed. */
  const entries = (): Record<string, unknown>[] => lines.map((line) => JSON.parse(line));
  return { log, lines: lines as readonly string[], entries };
}
