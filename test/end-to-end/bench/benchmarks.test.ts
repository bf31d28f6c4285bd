/** The benchmarks run to their end, on ledgers and for times that are too small to measure. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";

const MAIN = join(import.meta.dirname, "../../../bench/main.ts");

/** A row of a table whose first two columns are numbers: the median and the 99th percentile. */
const row = (name: string) => new RegExp(`│ ${name} +│ '\\d+\\.\\d+' +│ '\\d+\\.\\d+' `);

it.each([
  [
    "peers",
    [
      ...["--seconds", "0.05", "--rounds", "1", "--connections", "2"],
      ...["--providers", "2", "--charges", "1000"],
    ],
    [
      ...["Overview, a small provider", "Overview, a small provider at random"],
      ...["Overview, 200 servers", "30 days, 200 servers and 800 instances"],
      ...["service, REST", "service, gRPC", "service, gRPC, 8 calls at once"],
      ...["hand-written", "proxying gateway", "baseline"],
    ],
  ],
  [
    "scale",
    ["--charges", "1000,2000", "--requests", "2", "--warm-up", "0"],
    [
      ...[
        "overview",
        "30 days \\(default\\)",
        "1 year",
        "edges inside days",
        "30 days, after a rollup run",
        "another period up to now",
        "another period each time",
      ].flatMap((kind) => [row(`${kind}, 1,000`), row(`${kind}, 2,000`)]),
      ...["÷ smallest", "÷ bare query", "first rollup (s)"],
    ],
  ],
  [
    "fleet",
    [
      ...["--providers", "20", "--charges", "100", "--seconds", "1", "--rounds", "1"],
      ...["--connections", "2"],
    ],
    [
      ...["20 providers", "no news", "1 with news", "per provider (ms)"],
      /│ without passes │ \d+ +│ '[\d.]+' +│ '[\d.]+' +│ \d+ +│ \d+ +│ 0 +│ 0 /,
      /│ with passes {4}│ \d+ +│ '[\d.]+' +│ '[\d.]+' +│ \d+ +│ \d+ +│ \d+ +│ \d+ /,
      ...["p50 (ms)", "p99 (ms)", "CPU/request (µs)", "database CPU/request (µs)"],
      /requests\/s, with ÷ without passes: \d\.\d\d \(median/,
      /requests per CPU second, with ÷ without passes: \d\.\d\d \(median/,
    ],
  ],
  [
    "latency",
    [
      ...["--seconds", "0.3", "--rounds", "1", "--connections", "2"],
      ...["--providers", "2", "--charges", "1000"],
    ],
    [
      row("small overview"),
      row("overview of 200 servers"),
      row("baseline"),
      /│ 30 days, 200 .* │ '[\d.]+' +│/,
    ],
  ],
  [
    "backlog",
    [
      ...["--seconds", "0.5", "--rounds", "1", "--connections", "40", "--providers", "2"],
      ...["--max-ratio", "1000"],
    ],
    ["32 callers", "40 callers", /many ÷ few: \d+\.\d\d/],
  ],
  [
    "telemetry",
    ["--seconds", "0.5", "--rounds", "1", "--connections", "2", "--providers", "2"],
    [
      /│ without metrics +│ \d+ +│ '1.00 \(1.00 to 1.00\)' /,
      "with metrics",
      "with metrics and traces of 10 %",
    ],
  ],
] as const)(
  "npm run bench -- %s exits with 0 and prints every row and column",
  async (command, options, expected) => {
    const child = spawn(process.execPath, [MAIN, command, ...options], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [output, errors, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    expect(code, errors).toBe(0);
    for (const part of expected) expect(output).toMatch(part);
  },
  180_000,
);
