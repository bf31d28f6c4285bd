/** `npm run mutants`, from a copy of the tree to its report. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { runProgram } from "../../support/commands/run-command.ts";

const FILE = "src/auth/expiry.ts";

/** Where it makes its copy. */
const TMPDIR = mkdtempSync(join(tmpdir(), "mutants-test-"));
afterAll(() => rmSync(TMPDIR, { recursive: true, force: true }));

/** Runs it, with the environment of no test. */
function mutants(...args: readonly string[]) {
  const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_ENV|TEST)/.test(name));
  const options = { env: { ...Object.fromEntries(own), TMPDIR } };
  return runProgram(process.execPath, ["dev/mutants.ts", "src/auth", ...args], options);
}

it("a fault is found by the test of its file, in a copy that is gone afterwards", async () => {
  const text = readFileSync(FILE, "utf8");
  const { code, stdout } = await mutants("--count", "0", "--only", `${FILE}:16 value`);
  expect(stdout).toMatch(/^1 of \d+ mutants of \d+ files$/m);
  expect(stdout).toContain("test/unit/auth/expiry.test.ts > an expiry > 2027-01-01 is ");
  expect(stdout).toMatch(/^1 found, 0 known, 0 undetected$/m);
  expect(code).toBe(0);
  expect(readFileSync(FILE, "utf8")).toBe(text);
  expect(readdirSync(TMPDIR).filter((name) => name.startsWith("revenue-"))).toEqual([]);
});

it("without anything to try it fails", async () => {
  const { code, stderr } = await mutants("--only", "no such line");
  expect([code, stderr]).toEqual([1, "nothing to try: npm run mutants -- src/rpc src/auth\n"]);
});
