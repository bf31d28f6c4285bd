/** The benchmarks run: on a ledger and for a time too small to mean anything. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";

const MAIN = join(import.meta.dirname, "../../../bench/main.ts");

it.each([
  [
    "peers",
    ["--seconds", "0.3", "--rounds", "1", "--connections", "2", "--charges", "2000"],
    [
      ...["Overview, a small provider", "Overview, another small provider on each connection"],
      ...["Overview, 200 servers", "30 days, 200 servers and 800 instances"],
      ...["service, REST", "service, gRPC", "hand-written", "proxying gateway", "limit"],
    ],
  ],
  [
    "scale",
    ["--charges", "1000,3000", "--requests", "2"],
    [
      ...["overview, 1,000", "30 days (default), 3,000", "1 year, 3,000"],
      ...["edges inside days, 3,000", "another period each time, 3,000"],
      ...["÷ smallest", "÷ bare query", "first rollup (s)"],
    ],
  ],
] as const)(
  "%s",
  async (command, options, told) => {
    const child = spawn(process.execPath, [MAIN, command, ...options], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = once(child, "close");
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect({ code: (await ended)[0], errors }).toEqual({ code: 0, errors: expect.anything() });
    for (const words of told) expect(output).toContain(words);
  },
  180_000,
);
