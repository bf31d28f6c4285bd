/**
 * The benchmarks run to their end and print their rows, on ledgers and for times that are too small
 * to measure. What they measure belongs to `npm run bench`.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";

const MAIN = join(import.meta.dirname, "../../../bench/main.ts");
const TINY = ["--seconds", "0.05", "--rounds", "1", "--connections", "2", "--providers", "2"];
const CHARGES = ["--charges", "1000"];

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

it.each<[string, string[], string[]]>([
  [
    "peers",
    // Half of its processes. The passes that run beside the small providers are those of "fleet".
    [...CHARGES, "--only", "large"],
    ["30 days, 200 servers and 800 instances", "service ÷ peer", "hand-written"],
  ],
  [
    "fleet",
    ["--charges", "100"],
    ["1 with news", "requests per CPU second, with ÷ without passes: "],
  ],
  ["latency", CHARGES, ["overview of 200 servers", "baseline"]],
  ["telemetry", [], ["÷ without", "with metrics and traces of 10 %"]],
])(
  "npm run bench -- %s ends and prints its rows",
  async (command, options, expected) => {
    const { code, stdout, stderr } = await bench(command, ...TINY, ...options);
    expect(code, stderr).toBe(0);
    for (const part of expected) expect(stdout).toContain(part);
  },
  120_000,
);

it("npm run bench -- scale ends and prints its rows", async () => {
  const size = ["--charges", "100,200", "--requests", "2", "--warm-up", "0"];
  const { code, stdout, stderr } = await bench("scale", ...size);
  expect(code, stderr).toBe(0);
  for (const part of ["overview, 200", "÷ smallest", "÷ bare query"]) {
    expect(stdout).toContain(part);
  }
}, 120_000);

it("npm run bench -- backlog fails if a call costs more than its bound", async () => {
  // Long enough that the database uses CPU time that can be measured: the ratio is above 0.
  const load = ["--seconds", "0.5", "--rounds", "1", "--connections", "40", "--providers", "2"];
  const { code, stdout, stderr } = await bench("backlog", ...load, "--max-ratio", "0");
  expect(code, stderr).toBe(1);
  expect(stdout).toMatch(/many ÷ few: \d+\.\d\d \(at most 0\)/);
}, 120_000);
