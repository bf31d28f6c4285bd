/** `npm run key`: its output and its mistakes. What it stores is tested in test/database/auth. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { type ApiKey, generateKey, hashKey, parseKey } from "../../../src/auth/api-key.ts";
import { issueKey, issueServiceKey, revokeKey } from "../../../src/auth/key-registry.ts";
import { blockWith } from "../../docs/markdown.ts";
import { failed, lastLine, runCommand, runProgram } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await database.knex("providers").insert([
    { id: 1, name: "first" },
    { id: 2, name: "\u001b[31mred\u202e" },
  ]);
});
afterAll(() => database.drop());
beforeEach(() => database.knex("api_keys").del());

const key = (...args: string[]) => runCommand("key", args, database.url);

it("create prints a new key, alone on the last line, and stores its hash", async () => {
  const args = ["--provider", "2", "--name", "night job 🚀\u001bc\nb"];
  const made = await key("create", ...args, "--expires", "2999-01-01T02:00+02:00");
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const issued = parseKey(lastLine(made.stdout));
  if (issued === undefined) throw new Error(`no key in ${made.stdout}`);
  expect(made.stdout.split(issued)).toHaveLength(2);
  // Names may hold characters that would control the terminal.
  expect(made.stdout).toContain('"night job 🚀\\u{1b}c\\u{a}b"');
  expect(made.stdout).toContain('"\\u{1b}[31mred\\u{202e}"');
  expect(made.stdout).toContain("; expires 2999-01-01 00:00:00 UTC.");
  const [row] = await database.knex("api_keys");
  expect(row).toMatchObject({
    provider_id: "2",
    name: "night job 🚀\u001bc\nb",
    key_hash: hashKey(issued),
    expires_at: "2999-01-01 00:00:00.000",
  });
});

it("create makes a service key, for every provider, that revoke names as one", async () => {
  const made = await key("create", "--service", "--name", "billing export");
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const issued = lastLine(made.stdout);
  const [{ id, provider_id, key_hash }] = await database.knex("api_keys");
  const hash = hashKey(issued as ApiKey);
  expect({ provider_id, key_hash }).toEqual({ provider_id: "0", key_hash: hash });
  const named = `service key ${id}, "billing export", ${issued.slice(0, 8)}…`;
  expect(made.stdout.split("\n")).toEqual([
    `Issued ${named}; does not expire.`,
    "Access to every provider.",
    "Store the key now: it cannot be shown again.",
    ...["", issued, ""],
  ]);
  expect((await key("revoke", issued)).stdout).toBe(
    `Revoked ${named}. The service rejects it within one second.\n`,
  );
});

it("of a key that was revoked, by its id, is told when", async () => {
  const { id, hint } = await issueKey(database.knex, "1", "old", null);
  await revokeKey(database.knex, { id });
  const [{ revoked_at }] = await database.knex("api_keys");
  const stdout = `No change: key ${id}, "old", ${hint}… of provider 1 was revoked ${revoked_at.slice(0, 19)} UTC.\n`;
  expect(await key("revoke", `${id}`)).toEqual({ code: 0, stdout, stderr: "" });
});

it("after a restore every service key is revoked by one command, and providers' keys by what was kept of them", async () => {
  const kept = await issueKey(database.knex, "1", "kept", null);
  const leaked = await issueKey(database.knex, "1", "leaked", null);
  for (const name of ["a", "b"]) await issueServiceKey(database.knex, name, null);
  const before = await database.knex("api_keys");
  const revoked = await key("revoke", leaked.id, `${Number(leaked.id) + 100}`);
  expect(revoked).toMatchObject({
    code: 1,
    stderr: `error: key ${Number(leaked.id) + 100} does not exist\n`,
  });
  await database.knex("api_keys").del();
  await database.knex("api_keys").insert(before);

  const services = await key("revoke", "--all-services");
  expect(services).toMatchObject({ code: 0, stderr: "" });
  expect(services.stdout.match(/^Revoked service key/gm)).toHaveLength(2);
  const folder = mkdtempSync(join(tmpdir(), "revenue-revoked-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const line = blockWith("sh", "xargs -r /opt/node/bin/node").match(/^.*xargs.*$/m)?.[0] ?? "";
  writeFileSync(join(folder, "revoked.log"), revoked.stdout);
  const again = line
    .replaceAll("/opt/node/bin/node --env-file=/etc/revenue/keys.env", process.execPath)
    .replaceAll("/var/backups/revenue/revoked.log", join(folder, "revoked.log"));
  const env = { ...process.env, DATABASE_URL: database.url };
  expect(await runProgram("/bin/bash", ["-ec", again], { env })).toMatchObject({ code: 0 });
  const valid = await database.knex("api_keys").whereNull("revoked_at").pluck("id");
  expect(valid.map(String)).toEqual([kept.id]);
});

it.each<[args: string, stderr: string]>([
  ["revoke", "expected IDs or keys, or --all-services"],
  ["create --name nobody", "expected either --provider or --service"],
  ["create --service", "a service key needs a --name: logs show it"],
  [
    "create --provider 1 --expires 2999-02-29",
    "option '--expires <date>' argument '2999-02-29' is invalid. Expected a date or a time: 2027-01-01, 2027-01-01T09:30:00Z.",
  ],
  [
    "create --provider 1 --expires 2020-01-01",
    "option '--expires <date>' argument '2020-01-01' is invalid. Expected a time in the future, not 2020-01-01 00:00:00 UTC.",
  ],
  [
    "create --provider 1 --provider 2",
    "option '--provider <id>' argument '2' is invalid. Expected one provider: a key is for no other.",
  ],
])("%s is a mistake", async (args, stderr) => {
  const hint = "(npm run key -- --help lists the flags)";
  expect(await key(...args.split(" "))).toEqual(failed(`${stderr}\n${hint}`));
});

it("a mistyped key is not repeated", async () => {
  const typed = generateKey();
  const { code, stdout, stderr } = await key("revoke", `${typed}0`);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^error: /);
  expect(stderr).not.toContain(typed.slice(9, 40));
});

it("list shows the hint and the status of each key, but not the key", async () => {
  const row = (id: number, name: string, hint: string) => ({
    id,
    name,
    hint,
    provider_id: 1,
    key_hash: hashKey(generateKey()),
    created_at: "2026-01-02 03:04:05.678",
  });
  await database.knex("api_keys").insert([
    row(7, "runs", "rvk_aaaa"),
    { ...row(8, "expired", "rvk_bbbb"), expires_at: "2026-02-03 04:05:06.789" },
    {
      ...row(9, "gone \u001b[2J", "rvk_cccc"),
      provider_id: 22,
      expires_at: "2999-01-01 00:00:00.000",
      revoked_at: "2026-03-04 05:06:07.890",
    },
    { ...row(10, "export", "rvs_dddd"), provider_id: 0 },
  ]);
  expect((await key("list")).stdout.split("\n")).toEqual([
    "ID  KIND      PROVIDER  KEY        CREATED (UTC)        EXPIRES (UTC)        STATUS                       NAME",
    "7   provider  1         rvk_aaaa…  2026-01-02 03:04:05  never                active                       runs",
    "8   provider  1         rvk_bbbb…  2026-01-02 03:04:05  2026-02-03 04:05:06  expired                      expired",
    "9   provider  22        rvk_cccc…  2026-01-02 03:04:05  2999-01-01 00:00:00  revoked 2026-03-04 05:06:07  gone \\u{1b}[2J",
    "10  service   any       rvs_dddd…  2026-01-02 03:04:05  never                active                       export",
    "",
  ]);
  expect((await key("list", "--provider", "2")).stdout).toBe(
    "There are no keys. Issue one: npm run key -- create --provider ID\n",
  );
});

it("what the database has not stored is not reported as done, and neither is what is not there", async () => {
  const { knex } = database;
  await expect(revokeKey(knex, { id: "9" })).rejects.toThrow("key 9 does not exist");
  const { id } = await issueKey(knex, "1", "kept", null);
  const loses = (event: string, what: string) =>
    knex.raw(`CREATE TRIGGER loses_${event} BEFORE ${event} ON api_keys FOR EACH ROW SET ${what}`);
  await loses("UPDATE", "NEW.revoked_at = NULL");
  await loses("INSERT", "NEW.key_hash = UNHEX(REPEAT('00', 32))");
  await expect(revokeKey(knex, { id })).rejects.toThrow(
    `key ${id} is still valid: the database has not stored that it is revoked`,
  );
  await expect(issueKey(knex, "1", "lost", null)).rejects.toThrow(
    "the database has not stored the key: issue another one",
  );
  for (const event of ["UPDATE", "INSERT"]) await knex.raw(`DROP TRIGGER loses_${event}`);
});
