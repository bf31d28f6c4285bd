/** What `npm start` gives V8, together with `src/memory.ts`; see docs/operations.md, "Start". */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { NODE_OPTIONS } from "../../../dev/node-options.ts";

async function measurePeak(options: readonly string[]) {
  const script = join(import.meta.dirname, "peak-process.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [...options, script]);
  return JSON.parse(stdout);
}

it("after a peak memory goes back to the system, and optimized code stays", async () => {
  const { peak, after } = await measurePeak(NODE_OPTIONS);
  expect(peak.optimized).toBe(true);
  expect(peak.resident - after.resident).toBeGreaterThan(100);
  expect(after.optimized).toBe(true);
}, 60_000);

it("without --expose-gc it keeps the memory", async () => {
  const { peak, after } = await measurePeak([]);
  expect(peak.resident - after.resident).toBeLessThan(50);
}, 60_000);
