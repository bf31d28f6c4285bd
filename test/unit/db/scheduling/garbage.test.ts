/** See docs/architecture.md, "Garbage". */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { NODE_OPTIONS } from "../../../../dev/node-options.ts";

/** In bytes, of more than 4,000 that a read keeps alive while it waits. */
const MOST = 60;

it("what waited in a batch is collected with V8's young generation", async () => {
  const script = join(import.meta.dirname, "garbage-process.ts");
  const options = [...NODE_OPTIONS, "--max-semi-space-size=1"];
  const { stdout } = await promisify(execFile)(process.execPath, [...options, script]);
  expect(stdout).toMatch(/^-?\d+\n$/);
  expect(Number(stdout)).toBeLessThan(MOST);
}, 60_000);
