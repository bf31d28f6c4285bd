/**
 * The last line of a test run, for people and programs alike: `N passed, N failed`,
 * and `, N skipped` where some were. What went wrong outside a test counts as one
 * failure each: a file that does not load, an error that nobody caught, a set-up
 * that failed.
 */
import { writeSync } from "node:fs";
import type { SerializedError } from "vitest";
import type { Reporter, TestModule, Vitest } from "vitest/node";

interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

export default class TallyReporter implements Reporter {
  /** What stands until the run has ended: that it never did. */
  #tally: Totals = { passed: 0, failed: 1, skipped: 0 };

  onInit(_vitest: Vitest): void {
    // At the exit, so that nothing comes after it.
    process.once("exit", () => {
      if (this.#tally.failed > 0) process.exitCode ||= 1;
      writeSync(process.stdout.fd, `${tallyLine(this.#tally)}\n`);
    });
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: "passed" | "interrupted" | "failed",
  ): void {
    const tally = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      const before = tally.failed;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed" || state === "failed") tally[state]++;
        else tally.skipped++;
      }
      // A file that does not load, or a hook that fails, has no test to show for it.
      if (tally.failed === before && module.state() === "failed") tally.failed++;
    }
    // Nothing failed, and yet it did: it was interrupted, or there were no tests.
    if (tally.failed === 0 && (reason !== "passed" || tally.passed === 0)) tally.failed = 1;
    this.#tally = tally;
  }
}

/** A tally as its line. */
function tallyLine({ passed, failed, skipped }: Totals): string {
  const line = `${passed} passed, ${failed} failed`;
  return skipped === 0 ? line : `${line}, ${skipped} skipped`;
}
