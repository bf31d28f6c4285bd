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

/**
 * Creates a log that passes on so many lines of a kind, by default 20 a second, and then `more:` and
 * the message, with the `count` of the others. The timers do not keep the process alive: its last window has no sum.
 */
export function createSampledLog(log: Log, { by, limit = 20, window = 1_000 }: Sampling = {}): Log {
  const counts = new Map<string, { logged: number; left: number }>();

  function open(level: keyof Log, kind: string, value: unknown, message: string) {
    const count = { logged: 0, left: 0 };
    counts.set(kind, count);
    const end = () => {
      counts.delete(kind);
      if (count.left === 0) return;
      const seconds = window / 1_000;
      log[level]({ ...(by && { [by]: value }), count: count.left, seconds }, `more: ${message}`);
    };
    setTimeout(end, window).unref();
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
