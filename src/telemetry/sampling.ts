/** Sampling of log lines: some of a kind are logged one by one, the others as a sum. */

/** How many lines of a kind are logged, and how the others are summed up. */
export interface Sampling<Kind> {
  /** The length of a window, in ms. */
  readonly window: number;
  /** The lines of a kind that are logged one by one in a window. */
  limit(kind: Kind): number;
  /** Logs the sum of a window: how many lines were left out, and in what time, in seconds. */
  logSum(kind: Kind, count: number, seconds: number): void;
}

/** Ends the windows that are open, each of a kind. */
const openWindows = new Set<() => void>();

/** Logs the sums of all windows that are open: for the end of the process. */
export function logOpenSums(): void {
  for (const end of openWindows) end();
}

/**
 * Creates the counts. The returned function counts a line and returns whether it is to be logged
 * by itself. The sum of the others follows at the end of the window. The number of kinds must be
 * bounded; a kind is forgotten after its window. The timers do not keep the process alive.
 */
export function createSampling<Kind>({
  window,
  limit,
  logSum,
}: Sampling<Kind>): (kind: Kind) => boolean {
  const counts = new Map<Kind, { left: number; summed: number }>();

  function open(kind: Kind) {
    const count = { left: limit(kind), summed: 0 };
    counts.set(kind, count);
    const start = performance.now();
    const end = () => {
      clearTimeout(timer);
      openWindows.delete(end);
      counts.delete(kind);
      if (count.summed === 0) return;
      const seconds = Math.round((performance.now() - start) / 100) / 10;
      logSum(kind, count.summed, seconds);
    };
    const timer = setTimeout(end, window).unref();
    openWindows.add(end);
    return count;
  }

  return (kind) => {
    const count = counts.get(kind) ?? open(kind);
    if (count.left > 0) {
      count.left--;
      return true;
    }
    count.summed++;
    return false;
  };
}
