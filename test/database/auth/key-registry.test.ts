import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { generateKey, hashKey } from "../../../src/auth/api-key.ts";
import { issueKey, listKeys, revokeKey } from "../../../src/auth/key-registry.ts";
import { databaseOfFile } from "../file-database.ts";

const EXPIRY = Date.UTC(2027, 0, 1, 9, 30, 0, 250);

const database = await databaseOfFile();

beforeAll(async () => {
  await database.knex("providers").insert([
    { id: 1, name: "first" },
    { id: 2, name: "second" },
  ]);
});
beforeEach(() => database.knex("api_keys").del());

describe("issuing a key", () => {
  it("stores its hash and its hint, but not the key", async () => {
    const issued = await issueKey(database.knex, "1", "night job", EXPIRY);
    const [row] = await database.knex("api_keys");
    expect(row).toMatchObject({
      id: issued.id,
      name: "night job",
      key_hash: hashKey(issued.key),
      hint: issued.key.slice(0, 8),
      expires_at: "2027-01-01 09:30:00.250",
      revoked_at: null,
    });
    expect(JSON.stringify(row)).not.toContain(issued.key.slice(8));
    expect(row.key_hash.toString("latin1")).not.toContain(issued.key.slice(8));
  });

  it("fails if there is no such provider", async () => {
    await expect(issueKey(database.knex, "3", "test", null)).rejects.toThrow(
      new Error("provider 3 does not exist in the table providers"),
    );
    expect(await listKeys(database.knex)).toEqual([]);
  });
});

describe("revoking a key", () => {
  it("by its id or by the key itself revokes this key only, at the current time", async () => {
    const issued = [];
    for (const name of ["a", "b", "c"]) {
      issued.push(await issueKey(database.knex, "1", name, null));
    }
    const [a, b] = issued;
    if (a === undefined || b === undefined) throw new Error("no keys were issued");
    const now = async () => (await database.knex.select({ now: database.knex.fn.now(3) }))[0].now;
    const before = await now();
    await revokeKey(database.knex, { id: a.id });
    await revokeKey(database.knex, { key: b.key });
    const after = await now();
    const revoked = (await listKeys(database.knex)).map(({ revokedAt }) => revokedAt);
    expect(revoked).toEqual([expect.any(String), expect.any(String), null]);
    expect([before, ...revoked.slice(0, 2), after].toSorted()).toEqual([
      before,
      ...revoked.slice(0, 2),
      after,
    ]);
  });

  it("has no effect the second time", async () => {
    const { id, key } = await issueKey(database.knex, "1", "a", null);
    expect((await revokeKey(database.knex, { id })).revokedAt).toBeNull();
    const [before] = await listKeys(database.knex);
    expect((await revokeKey(database.knex, { key })).revokedAt).toBe(before?.revokedAt);
    expect(await listKeys(database.knex)).toEqual([before]);
  });

  it("fails if there is no such key, without repeating it", async () => {
    const key = generateKey();
    await expect(revokeKey(database.knex, { id: "77" })).rejects.toThrow(
      new Error("key 77 does not exist"),
    );
    await expect(revokeKey(database.knex, { key })).rejects.toThrow(
      new Error(`key ${key.slice(0, 8)}… does not exist in this database`),
    );
  });
});
