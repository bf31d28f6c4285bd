/** A copy of the tree in a temporary folder, in which mutants are tried. The checkout is never changed. */
import { execFileSync, spawn } from "node:child_process";
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSupervisedFolder } from "../private-database/supervised-folder.ts";
import { TIME_LIMIT } from "../time-limit.ts";

const ROOT = join(import.meta.dirname, "../..");

/**
 * How long the tests in the copy wait for anything, in ms. A mutant may make them wait for what never comes,
 * so it is a part of the one time limit; a busy machine still needs less.
 */
const LIMIT_IN_COPY = TIME_LIMIT / 20;

/** The end of a run of the tests. */
export interface TestRun {
  /** The first test that failed; "no end" if the run was ended at its limit; undefined if all passed, or there were none. */
  readonly failed: string | undefined;
  readonly output: string;
  readonly milliseconds: number;
}

/** The copy. */
export interface TreeCopy {
  /** Writes a file of the copy. */
  write(path: string, text: string): void;
  /**
   * Runs vitest until a test fails, and ends it, with all that it started, at the limit.
   *
   * @param limit in ms
   */
  test(args: readonly string[], limit: number): Promise<TestRun>;
  remove(): Promise<void>;
}

/** Copies what git tracks, or would track; the packages are shared. The copy is gone when this process ends, however it does. */
export function copyTree(): TreeCopy {
  const supervised = createSupervisedFolder("revenue-mutants-");
  const folder = supervised.path;
  const list = ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "-z"];
  const files = execFileSync("git", list, { cwd: ROOT, encoding: "utf8", maxBuffer: 2 ** 26 });
  for (const path of files.split("\0").filter((path) => path !== "")) {
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const write = (path: string, text: string) => writeFileSync(join(folder, path), text);
  const limitFile = "dev/time-limit.ts";
  const limits = readFileSync(join(ROOT, limitFile), "utf8");
  write(limitFile, limits.replace(/(?<=TIME_LIMIT = )[\d_]+/, String(LIMIT_IN_COPY)));
  // That a test fails is enough to know: fast-check need not look for a smaller case.
  const drawFile = "test/support/seed-fast-check.ts";
  const drawn = readFileSync(join(ROOT, drawFile), "utf8");
  write(drawFile, drawn.replace("seed: SEED", "seed: SEED, endOnFailure: true"));
  return {
    write,
    test: (args, limit) => runTests(folder, args, limit),
    remove: () => supervised.remove(),
  };
}

async function runTests(folder: string, args: readonly string[], limit: number): Promise<TestRun> {
  const started = performance.now();
  const watch = join(ROOT, "dev/parent-watch.ts");
  const program = ["--import", watch, "node_modules/vitest/vitest.mjs", ...args, "--bail=1"];
  const child = spawn(process.execPath, program, {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    // A group of its own: its workers, and what they started, end with it.
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const timer = setTimeout(resolve, limit, NaN);
  child.once("close", resolve);
  const code = await promise;
  clearTimeout(timer);
  endGroup(child.pid);
  const failed = code === 0 ? undefined : failureIn(output, code);
  return { failed, output, milliseconds: performance.now() - started };
}

function failureIn(output: string, code: number | null): string | undefined {
  if (Number.isNaN(code)) return "no end";
  if (/No (affected )?test files found/.test(output)) return undefined;
  const [, test] = /^failed: (.*)$/m.exec(output) ?? [];
  // A worker may have ended, for want of memory.
  return test ?? `code ${code}: ${output.trimEnd().split("\n").slice(-5).join(" ")}`;
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // all of it has ended
  }
}
