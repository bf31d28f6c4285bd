/**
 * `npm run bench` prints ratios, and fails beyond a bound. What the benchmarks measure, and those that
 * are not started here, belong to whoever runs them.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";

const MAIN = join(import.meta.dirname, "../../../bench/main.ts");

/** Runs a benchmark to its end. */
async function bench(...args: readonly string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code, stdout, stderr };
}

it("npm run bench -- backlog fails if a call costs more than its bound", async () => {
  // Long enough that the database uses CPU time that can be measured: the ratio is above 0.
  const load = ["--seconds", "0.5", "--rounds", "1", "--connections", "40", "--providers", "2"];
  const { code, stdout, stderr } = await bench("backlog", ...load, "--max-ratio", "0");
  expect(code, stderr).toBe(1);
  expect(stdout).toMatch(/many ÷ few: \d+\.\d\d \(at most 0\)/);
}, 120_000);
