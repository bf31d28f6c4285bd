/** What `npm start` gives V8, together with `src/memory.ts`; see docs/operations.md, "Start". */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { NODE_OPTIONS } from "../../../dev/node-options.ts";

it("after a peak memory goes back to the system, and optimized code stays", async () => {
  const script = join(import.meta.dirname, "peak-process.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [...NODE_OPTIONS, script]);
  const { peak, after } = JSON.parse(stdout);
  expect(peak.optimized).toBe(true);
  expect(peak.resident - after.resident).toBeGreaterThanOrEqual(100);
  expect(after.optimized).toBe(true);
}, 90_000);
