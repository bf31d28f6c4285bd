/** What commands print, where nobody reads it any more, or it cannot be written. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { runProgram } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { SEAT_BELT } from "../../support/seat-belt.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await database.knex("providers").insert({ id: 7, name: "" });
});
afterAll(() => database.drop());

/** Runs a command of bash, in which `$node` is this one. */
function bash(command: string) {
  const env = {
    ...process.env,
    LC_ALL: "C",
    node: process.execPath,
    NODE_OPTIONS: SEAT_BELT,
    DATABASE_URL: database.url,
  };
  return runProgram("/bin/bash", ["-c", command], { env });
}

it("a check whose output nobody reads any more (`| head`) goes on in silence to its end, and its exit code tells it", async () => {
  const closed = "exec 3> >(true); wait $!";
  const run = await bash(`${closed}; $node src/main.ts --check >&3`);
  expect(run).toEqual({ code: 0, stdout: "", stderr: "" });
});

it("a key that cannot be printed, because the disk is full, is an error", async () => {
  const { code, stderr } = await bash("$node src/cli/key.ts create --provider 7 > /dev/full");
  expect(code).not.toBe(0);
  expect(stderr).toContain("ENOSPC");
});
