/**
 * A log of what may happen thousands of times a second. Of each kind so many lines are logged in a
 * window of time, and one line at its end has the sum of the others. So neither clients nor a database
 * that is away can fill the disk.
 */
import type { Log } from "./log.ts";

/** Which lines are of a kind, and how many of a kind are logged. */
export interface Sampling {
  /** The field that tells lines with one message apart. It must have few values. By default all are of a kind. */
  readonly by?: string;
  /** The lines of a kind that are logged in a window. */
  readonly limit?: number;
  /** The length of a window, in ms. It begins with the first line of its kind. */
  readonly window?: number;
}

/** Ends the windows that are open, each of a kind. */
const openWindows = new Set<() => void>();

/** Logs the sums of all windows that are open: for the end of the process. */
export function logOpenSums(): void {
  for (const end of openWindows) end();
}

/**
 * Creates a log that passes on so many lines of a kind, by default 20 a second, and then `more:` and
 * the message, with the `count` of the others. The timers do not keep the process alive.
 */
export function createSampledLog(log: Log, { by, limit = 20, window = 1_000 }: Sampling = {}): Log {
  const counts = new Map<string, { logged: number; left: number }>();

  function open(level: keyof Log, kind: string, value: unknown, message: string) {
    const count = { logged: 0, left: 0 };
    counts.set(kind, count);
    const start = performance.now();
    const end = () => {
      clearTimeout(timer);
      openWindows.delete(end);
      counts.delete(kind);
      if (count.left === 0) return;
      const seconds = Math.round((performance.now() - start) / 100) / 10;
      log[level]({ ...(by && { [by]: value }), count: count.left, seconds }, `more: ${message}`);
    };
    const timer = setTimeout(end, window).unref();
    openWindows.add(end);
    return count;
  }

  const sample = (level: keyof Log) => (fields: object, message: string) => {
    const value = by && (fields as Readonly<Record<string, unknown>>)[by];
    const kind = `${value} ${message}`;
    const count = counts.get(kind) ?? open(level, kind, value, message);
    if (count.logged === limit) {
      count.left++;
      return;
    }
    count.logged++;
    log[level](fields, message);
  };
  return { info: sample("info"), warn: sample("warn"), error: sample("error") };
}
