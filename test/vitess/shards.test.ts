/** What is asked of a whole keyspace asks each shard, or is refused: one shard's row is none for all. */
import { afterAll, expect, it } from "vitest";
import { migrationNames } from "../../src/db/pending-migrations.ts";
import { SHARDED as REFUSAL } from "../../src/db/shards.ts";
import { failed, runCommand } from "../support/commands/run-command.ts";
import { runService } from "../support/service/service-process.ts";
import { openKeyspace, SHARDED } from "./keyspaces.ts";

const keyspace = await openKeyspace(SHARDED);
afterAll(() => keyspace[Symbol.asyncDispose]());

it.each([
  ["migrate", []],
  ["migrate", ["--check"]],
  ["rollup", []],
  ["rollup", ["--verify"]],
])("npm run %s -- %j refuses a keyspace of several shards", async (name, args) => {
  const { stderr, ...ended } = await runCommand(name, args, keyspace.url);
  const expected = failed(REFUSAL);
  // vtgate keeps no limit of time of a session, which each command that states one warns of.
  expect({ ...ended, stderr: stderr.replace(/^warning: .* lacks a protection: .*\n/, "") }).toEqual(
    expected,
  );
});

it("--check names the shard that is behind, and the one whose column differs", async () => {
  const last = migrationNames().at(-1) ?? "";
  const [first, second] = keyspace.targets;
  if (first === undefined || second === undefined) throw new Error("expected two shards");
  const row = await first("knex_migrations").where({ name: last }).first();
  await first("knex_migrations").where({ name: last }).del();
  await second.raw("ALTER TABLE charges MODIFY gross double NOT NULL");
  try {
    const { ending, stdout, stderr } = await runService({ DATABASE_URL: keyspace.url }, [
      "--check",
    ]);
    expect(ending).toBe(1);
    expect(stdout.match(/^shard .*$/gm)).toHaveLength(keyspace.targets.length);
    expect(stderr).toContain(`the database schema is 1 migration behind (next: ${last})`);
    expect(stderr).toContain("error: charges.gross is double: it must be decimal(14,2)");
  } finally {
    await first("knex_migrations").insert(row);
    await second.raw("ALTER TABLE charges MODIFY gross decimal(14,2) NOT NULL");
  }
  expect(await runService({ DATABASE_URL: keyspace.url }, ["--check"])).toMatchObject({
    ending: 0,
  });
});
