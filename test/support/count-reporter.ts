/**
 * Prints the last lines of a test run: what was skipped, what failed and why, and `N passed, N failed`,
 * and `, N skipped` if some were. Each error outside a test counts as one failure: a file that does not
 * load, an uncaught error, a failed set-up.
 *
 * A failure is the line `failed: FILE > TEST`, or `failed: outside a test`, with the error's first
 * lines indented below it. `.ci/run` reads these lines.
 */
import { writeSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import type { SerializedError } from "vitest";
import type { Reporter, TestModule, Vitest } from "vitest/node";

/** So many lines of an error's message are printed: enough for a difference of two values. */
const MESSAGE_LINES = 20;
/** And so much of each: a whole response in one line, and the count after it is lost in a pipe. */
const LINE_CHARACTERS = 500;

type Failure = Pick<SerializedError, "message" | "stacks" | "stack"> & { diff?: string };

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export default class CountReporter implements Reporter {
  /** One failure until the run has ended, in case it never does. */
  #counts: Counts = { passed: 0, failed: 1, skipped: 0 };
  readonly #skipped: string[] = [];
  /** With `-t`, which skips all others. */
  #isFiltered = false;
  readonly #failures: string[] = [];

  onInit(vitest: Vitest): void {
    this.#isFiltered = vitest.config.testNamePattern !== undefined;
    // Written at the exit, so that it is the last line.
    process.once("exit", () => {
      if (this.#counts.failed > 0) process.exitCode ||= 1;
      const lines = [...this.#skipped, ...this.#failures, countLine(this.#counts)];
      writeSync(process.stdout.fd, `${lines.join("\n")}\n`);
    });
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: "passed" | "interrupted" | "failed",
  ): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const error of unhandledErrors)
      this.#failures.push(failureText("outside a test", [error]));
    for (const module of modules) {
      const before = counts.failed;
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        const name = `${module.relativeModuleId} > ${test.fullName}`;
        if (state === "passed" || state === "failed") counts[state]++;
        else counts.skipped++;
        if (state === "skipped" && !this.#isFiltered) this.#skipped.push(`skipped: ${name}`);
        if (state === "failed") this.#failures.push(failureText(name, errors));
      }
      // No test reports a file that does not load, or a hook that fails.
      if (counts.failed === before && module.state() === "failed") {
        counts.failed++;
        const suites = [...module.children.allSuites()];
        const errors = [module, ...suites].flatMap((suite) => suite.errors());
        this.#failures.push(failureText(`${module.relativeModuleId} > (its set-up)`, errors));
      }
    }
    // An interrupted run, or one without tests, is a failure too.
    if (counts.failed === 0 && (reason !== "passed" || counts.passed === 0)) counts.failed = 1;
    this.#counts = counts;
  }
}

/** A failure's name, and of each of its errors the first lines and where it was thrown. */
function failureText(name: string, errors: readonly Failure[] = []): string {
  const lines = errors.flatMap(({ message, diff, stacks, stack }) => {
    const [at] = stacks ?? [];
    const where =
      at === undefined ? stack?.split("\n")[1] : `at ${at.file}:${at.line}:${at.column}`;
    const text = stripVTControlCharacters(diff === undefined ? message : `${message}\n${diff}`);
    return [
      ...text.split("\n", MESSAGE_LINES).map((line) => line.slice(0, LINE_CHARACTERS)),
      ...(where ? [where.trim()] : []),
    ];
  });
  return [`failed: ${name}`, ...lines.map((line) => `  ${line}`)].join("\n");
}

/** The counts as a line of text. */
function countLine({ passed, failed, skipped }: Counts): string {
  const line = `${passed} passed, ${failed} failed`;
  return skipped === 0 ? line : `${line}, ${skipped} skipped`;
}
