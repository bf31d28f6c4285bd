import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateKey, hashKey, parseKey } from "../../../src/auth/api-key.ts";
import { failed, lastLine, runCommand } from "../../support/commands/run-command.ts";
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

const key = (...args: string[]) => runCommand("key", args, database.url);

describe("npm run key -- create", () => {
  it("prints a new key, alone on the last line, and stores its hash", async () => {
    const made = await key("create", "--provider", "1", "--name", "night job 🚀");
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const issued = parseKey(lastLine(made.stdout));
    if (issued === undefined) throw new Error(`no key in ${made.stdout}`);
    expect(made.stdout.split(issued)).toHaveLength(2);
    expect(made.stdout).toContain('"night job 🚀"');
    const row = await database
      .knex("api_keys")
      .where({ key_hash: hashKey(issued) })
      .first();
    expect(row).toMatchObject({ provider_id: "1", name: "night job 🚀", expires_at: null });
  });

  it("accepts an expiry as a date or a time, in UTC", async () => {
    const made = await Promise.all(
      ["2999-01-01", "2999-01-01T02:00:00.5+02:00"].map((date) =>
        key("create", "--provider", "1", "--expires", date),
      ),
    );
    const expiries = await database
      .knex("api_keys")
      .whereNotNull("expires_at")
      .orderBy("expires_at")
      .pluck("expires_at");
    expect(expiries).toEqual(["2999-01-01 00:00:00.000", "2999-01-01 00:00:00.500"]);
    expect(made[0]?.stdout).toContain("; expires 2999-01-01 00:00:00 UTC.");
  });

  it("escapes control characters in names", async () => {
    const { stdout } = await key("create", "--provider", "2", "--name", "a\u001bc\nb");
    expect(stdout).toContain('"a\\u{1b}c\\u{a}b"');
    expect(stdout).toContain('"\\u{1b}[31mred\\u{202e}"');
  });

  const ID = "Expected an id from the table `providers`, such as 1.";
  const DATE = "Expected a date or a time: 2027-01-01, 2027-01-01T09:30:00Z.";
  it.each<[string[], string]>([
    [[], "required option '--provider <id>' not specified"],
    [["--provider"], "option '--provider <id>' argument missing"],
    [["--provider", "x"], `option '--provider <id>' argument 'x' is invalid. ${ID}`],
    [["--provider", "0"], `option '--provider <id>' argument '0' is invalid. ${ID}`],
    [["--provider", "1.5"], `option '--provider <id>' argument '1.5' is invalid. ${ID}`],
    [["--provider=-1"], `option '--provider <id>' argument '-1' is invalid. ${ID}`],
    [
      ["--provider", "18446744073709551616"],
      `option '--provider <id>' argument '18446744073709551616' is invalid. ${ID}`,
    ],
    [
      ["--provider", "18446744073709551615"],
      "provider 18446744073709551615 does not exist in the table providers",
    ],
    [
      ["--provider", "1", "--expires", "soon"],
      `option '--expires <date>' argument 'soon' is invalid. ${DATE}`,
    ],
    [
      ["--provider", "1", "--expires", "2999-02-29"],
      `option '--expires <date>' argument '2999-02-29' is invalid. ${DATE}`,
    ],
    [
      ["--provider", "1", "--expires", "2020-01-01"],
      "option '--expires <date>' argument '2020-01-01' is invalid. Expected a time in the future, not 2020-01-01 00:00:00 UTC.",
    ],
    [["--provider", "1", "--nmae", "x"], "unknown option '--nmae'\n(Did you mean --name?)"],
    [
      ["--provider", "1", "x"],
      "too many arguments for 'create'. Expected 0 arguments but got 1: x.",
    ],
  ])("%j is an error", async (args, stderr) => {
    expect(await key("create", ...args)).toEqual(failed(stderr));
  });

  it("rejects a name of more than 255 characters", async () => {
    const { code, stderr } = await key("create", "--provider", "1", "--name", "🚀".repeat(256));
    expect(code).toBe(1);
    expect(stderr).toContain("Expected at most 255 characters, not 256.");
    expect((await key("create", "--provider", "1", "--name", "🚀".repeat(255))).code).toBe(0);
  });
});

describe("npm run key -- list", () => {
  it("shows the hint and the status of each key, but not the key", async () => {
    const own = await createDatabase();
    try {
      expect((await runCommand("key", ["list"], own.url)).stdout).toBe(
        "There are no keys. Issue one: npm run key -- create --provider ID\n",
      );
      const created_at = "2026-01-02 03:04:05.678";
      const keys = Array.from({ length: 3 }, generateKey);
      const row = { provider_id: 1, created_at };
      await own.knex("api_keys").insert([
        { ...row, name: "runs", key_hash: hashKey(keys[0] ?? generateKey()), hint: "rvk_aaaa" },
        {
          ...row,
          name: "expired",
          key_hash: hashKey(keys[1] ?? generateKey()),
          hint: "rvk_bbbb",
          expires_at: "2026-02-03 04:05:06.789",
        },
        {
          ...row,
          provider_id: 22,
          name: "gone \u001b[2J",
          key_hash: hashKey(keys[2] ?? generateKey()),
          hint: "rvk_cccc",
          expires_at: "2999-01-01 00:00:00.000",
          revoked_at: "2026-03-04 05:06:07.890",
        },
      ]);
      const { stdout } = await runCommand("key", ["list"], own.url);
      expect(stdout.split("\n")).toEqual([
        "ID  PROVIDER  KEY        CREATED (UTC)        EXPIRES (UTC)        STATUS                       NAME",
        "1   1         rvk_aaaa…  2026-01-02 03:04:05  never                active                       runs",
        "2   1         rvk_bbbb…  2026-01-02 03:04:05  2026-02-03 04:05:06  expired                      expired",
        "3   22        rvk_cccc…  2026-01-02 03:04:05  2999-01-01 00:00:00  revoked 2026-03-04 05:06:07  gone \\u{1b}[2J",
        "",
      ]);
      const one = await runCommand("key", ["list", "--provider", "22"], own.url);
      expect(one.stdout.split("\n")).toHaveLength(3);
    } finally {
      await own.drop();
    }
  });
});

describe("npm run key -- revoke", () => {
  it("accepts a key or its id, and reports what it did", async () => {
    const made = lastLine((await key("create", "--provider", "1", "--name", "old")).stdout);
    const row = () =>
      database
        .knex("api_keys")
        .where({ key_hash: hashKey(parseKey(made) ?? generateKey()) })
        .first();
    const { id } = await row();
    const hint = made.slice(0, 8);
    expect(await key("revoke", made)).toEqual({
      code: 0,
      stdout: `Revoked key ${id}, "old", ${hint}… of provider 1. The service rejects it within one second.\n`,
      stderr: "",
    });
    const { revoked_at } = await row();
    expect(revoked_at).not.toBeNull();
    expect(await key("revoke", String(id))).toEqual({
      code: 0,
      stdout: `No change: key ${id}, "old", ${hint}… of provider 1 was revoked ${revoked_at.slice(0, 19)} UTC.\n`,
      stderr: "",
    });
  });

  it("fails for an unknown key", async () => {
    const unknown = generateKey();
    expect(await key("revoke", "999999")).toEqual(failed("key 999999 does not exist"));
    expect(await key("revoke", unknown)).toEqual(
      failed(`key ${unknown.slice(0, 8)}… does not exist in this database`),
    );
    expect(await key("revoke")).toEqual(failed("missing required argument 'id-or-key'"));
  });
});
