/**
 * Prints the last lines of a test run: the tests that passed only when they ran again, and
 * `N passed, N failed`, and `, N skipped` if some were. Each error outside a test counts as one
 * failure: a file that does not load, an uncaught error, a failed set-up.
 */
import { writeSync } from "node:fs";
import type { SerializedError } from "vitest";
import type { Reporter, TestModule, Vitest } from "vitest/node";

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export default class CountReporter implements Reporter {
  /** One failure until the run has ended, in case it never does. */
  #counts: Counts = { passed: 0, failed: 1, skipped: 0 };
  readonly #flaky: string[] = [];

  onInit(_vitest: Vitest): void {
    // Written at the exit, so that it is the last line.
    process.once("exit", () => {
      if (this.#counts.failed > 0) process.exitCode ||= 1;
      const flaky = this.#flaky.map((name) => `passed when run again: ${name}\n`);
      writeSync(process.stdout.fd, `${flaky.join("")}${countLine(this.#counts)}\n`);
    });
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: "passed" | "interrupted" | "failed",
  ): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      const before = counts.failed;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed" || state === "failed") counts[state]++;
        else counts.skipped++;
        if (test.diagnostic()?.flaky) {
          this.#flaky.push(`${module.relativeModuleId} > ${test.fullName}`);
        }
      }
      // No test reports a file that does not load, or a hook that fails.
      if (counts.failed === before && module.state() === "failed") counts.failed++;
    }
    // An interrupted run, or one without tests, is a failure too.
    if (counts.failed === 0 && (reason !== "passed" || counts.passed === 0)) counts.failed = 1;
    this.#counts = counts;
  }
}

/** The counts as a line of text. */
function countLine({ passed, failed, skipped }: Counts): string {
  const line = `${passed} passed, ${failed} failed`;
  return skipped === 0 ? line : `${line}, ${skipped} skipped`;
}
