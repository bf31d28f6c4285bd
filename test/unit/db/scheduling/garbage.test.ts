/**
 * What a call leaves behind is collected with V8's young generation, which is cheap. If something of
 * one call keeps something of the next one alive, all of it ends in the old space instead. See
 * docs/architecture.md, "Garbage".
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { NODE_OPTIONS } from "../../../../dev/node-options.ts";

/** Of more than 4,000 that a waiting call keeps alive, in bytes. */
const MOST = 60;

it("calls that have waited are garbage of the young generation", async () => {
  const script = join(import.meta.dirname, "garbage-process.ts");
  const options = [...NODE_OPTIONS, "--max-semi-space-size=1"];
  const { stdout } = await promisify(execFile)(process.execPath, [...options, script]);
  const promoted = JSON.parse(stdout) as Record<string, number>;
  expect(Object.keys(promoted)).toEqual(["batching", "fairShare", "keyQueue"]);
  for (const [operation, bytes] of Object.entries(promoted)) {
    expect(bytes, operation).toBeLessThan(MOST);
  }
}, 60_000);
