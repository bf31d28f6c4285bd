/**
 * Whether the process should get traffic. Each check has a state that other parts set in the
 * background; a request only reads it. A database that is slow, or whose data is too old, does not make
 * the process unready: every replica would be, and the calls that could still be answered would be lost.
 */

/** The checks, in the order of the report. All pass at first. */
const CHECKS = ["shutdown", "schema", "database"] as const;

/**
 * A check: the process is not stopping; the schema is not behind, and the account may read it; the database can be
 * reached.
 */
export type Check = (typeof CHECKS)[number];

/** The states of the checks. */
export interface Readiness {
  /** Sets the state of a check: undefined if it passes, otherwise the reason in a few words. */
  set(check: Check, problem: string | undefined): void;
  isReady(): boolean;
  /** The checks and their result, as `/readyz?verbose` of Kubernetes lists them. */
  report(): string;
}

/**
 * Creates the states.
 *
 * @param onChange called when the process becomes ready or unready, with the failed checks
 */
export function createReadiness(
  onChange: (ready: boolean, failed: readonly Check[]) => void = () => {},
): Readiness {
  const problems = new Map<Check, string>();
  return {
    set(check, problem) {
      const wasReady = problems.size === 0;
      if (problem === undefined) problems.delete(check);
      else problems.set(check, problem);
      const isReady = problems.size === 0;
      if (isReady !== wasReady) onChange(isReady, [...problems.keys()]);
    },
    isReady: () => problems.size === 0,
    report() {
      const lines = CHECKS.map((check) => {
        const problem = problems.get(check);
        return problem === undefined ? `[+]${check} ok` : `[-]${check} failed: ${problem}`;
      });
      return `${lines.join("\n")}\nreadyz check ${problems.size === 0 ? "passed" : "failed"}\n`;
    },
  };
}
