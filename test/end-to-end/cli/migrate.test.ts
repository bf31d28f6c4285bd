/** `npm run migrate`: a run that is killed, and the lock that it leaves behind. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { migrateToLatest } from "../../../src/db/migrate.ts";
import { migrationNames } from "../../../src/db/pending-migrations.ts";
import { runCommand, runProgram, startCommand } from "../../support/commands/run-command.ts";
import { connectTo, createDatabase, type TestDatabase } from "../../support/database.ts";
import { type ProcessList, watchProcesses } from "../../support/process-list.ts";
import { SEAT_BELT } from "../../support/seat-belt.ts";

/** The migration that is killed. It makes the row of `page_token_keys`. */
const KILLED = "0019_page_token_key.ts";
const PENDING = migrationNames().filter((name) => name >= KILLED);

const LOCKED =
  "another run of the migrations is in progress (Migration table is already locked): run `npm run migrate` again when it has ended. If it was killed, free its lock: `npm run migrate -- --unlock`";

let database: TestDatabase;
let processes: ProcessList;
beforeAll(async () => {
  database = await createDatabase();
  processes = await watchProcesses(database.name);
});
afterAll(async () => {
  await processes.close();
  await database.drop();
});

it("a run that is killed during a migration is completed after its lock was freed", async () => {
  await database.knex("knex_migrations").whereIn("name", PENDING).del();
  // Somebody holds the row that the migration makes.
  const other = await connectTo(database.url);
  await other.query("BEGIN");
  await other.query("SELECT * FROM page_token_keys FOR UPDATE");
  const run = startCommand("migrate", [], database.url);
  await expect.poll(() => processes.running("INSERT IGNORE INTO page_token_keys")).toHaveLength(1);
  run.signal("SIGKILL");
  await run.ended;

  await expect(migrateToLatest(database.knex)).rejects.toThrow(LOCKED);
  expect(await runCommand("migrate", ["--unlock"], database.url)).toEqual({
    code: 0,
    stdout: "the lock is free: run `npm run migrate`\n",
    stderr: "",
  });
  await other.query("COMMIT");
  await other.end();
  expect(await runCommand("migrate", [], database.url)).toEqual({
    code: 0,
    stdout: [
      ...PENDING.map((name) => `ran ${name}`),
      "the schema is up to date: 1 migration ran\n",
    ].join("\n"),
    stderr: "",
  });
});

it("--check ends with 1 where rows of a view are wrong, with a warning where they are not counted", async () => {
  const { knex, url, drop } = await createDatabase();
  try {
    await knex.raw("DROP TABLE wallets");
    await knex.raw(
      "CREATE VIEW wallets AS SELECT id AS provider_id, CAST(1 AS DECIMAL(14,2)) AS available_balance FROM providers UNION ALL SELECT provider_id, CAST(2 AS DECIMAL(14,2)) FROM instances",
    );
    const ok = "ok: what is there is as the service's statements need it\n";
    const empty =
      "warning: charges is a table of this service and empty, so every provider has earned nothing: fill it, or make a view of that name before `npm run migrate`\n";
    const check = (...flags: string[]) => runCommand("migrate", ["--check", ...flags], url);
    expect(await check()).toEqual({ code: 0, stdout: ok, stderr: empty });
    await knex("providers").insert({ id: 7, name: "" });
    await knex("instances").insert({ provider_id: 7, server_id: 1, public_id: "i", name: "" });
    expect(await check()).toEqual({
      code: 1,
      stdout: "",
      stderr: `${empty}error: wallets has more than one row of the same (provider_id): 1, for example provider_id 7: one row each: two tenants, currencies or sources need databases, or numbers, of their own\n`,
    });
    const skipped = `${empty}warning: the rows are not counted (--skip-counts)\n`;
    expect(await check("--skip-counts")).toEqual({ code: 0, stdout: ok, stderr: skipped });
  } finally {
    await drop();
  }
});

it("a run whose output nobody reads any more (`| head`) completes, and leaves no lock behind", async () => {
  await database.knex("knex_migrations").whereNot({ name: "0001_providers.ts" }).del();
  const run = `${process.execPath} src/cli/migrate.ts | head -1`;
  const env = { ...process.env, NODE_OPTIONS: SEAT_BELT, DATABASE_URL: database.url };
  const { stdout } = await runProgram("/bin/bash", ["-c", `set -o pipefail; ${run}`], { env });
  expect(stdout).toBe("ran 0002_api_keys.ts\n");
  expect(await migrateToLatest(database.knex)).toEqual([]);
  expect(await database.knex("knex_migrations_lock").pluck("is_locked")).toEqual([0]);
});
