import { beforeAll, describe, expect, it } from "vitest";
import { type ApiKey, generateKey, hashKey, hintOf } from "../../../src/auth/api-key.ts";
import { createAuthentication } from "../../../src/auth/authentication.ts";
import { createFindKeys, keysByHash, MAX_BATCH } from "../../../src/auth/key-lookup.ts";
import { createKeyQueue } from "../../../src/auth/key-queue.ts";
import { issueKey, revokeKey } from "../../../src/auth/key-registry.ts";
import { createRead } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import { shareOf } from "../../../src/handler.ts";
import { databaseOfFile } from "../file-database.ts";

const NOW = Date.UTC(2026, 10, 20, 9, 30);
const request = { signal: new AbortController().signal, address: "192.0.2.1", protocol: "grpc" };

const { knex } = await databaseOfFile();
const authenticate = createAuthentication(
  createKeyQueue(createFindKeys(createRead(knex))),
  () => ({ allowed: true }),
  "grpc",
);

beforeAll(async () => {
  await knex("providers").insert([
    { id: 1, name: "first" },
    { id: "18446744073709551615", name: "last" },
  ]);
});

const issue = async (expiresAt: number | null = null, providerId = "1") =>
  (await issueKey(knex, providerId, "test", expiresAt)).key;

/** The caller's provider, or the kind and the message of the error. */
const outcomeOf = (key: string, now = NOW) =>
  authenticate({ xApiKey: [key], authorization: [], xProviderId: [] }, request, now).then(
    shareOf,
    (thrown) => (thrown instanceof ServiceError ? `${thrown.kind}: ${thrown.message}` : thrown),
  );

const UNAUTHENTICATED = `unauthenticated: ${new ServiceError("unauthenticated").message}`;

describe("a key is rejected", () => {
  it("from the millisecond of its expiry, and if it was never issued", async () => {
    const key = await issue(NOW);
    expect(await outcomeOf(key, NOW - 1)).toBe("1");
    expect(await outcomeOf(key, NOW)).toBe(UNAUTHENTICATED);
    expect(await outcomeOf(generateKey())).toBe(UNAUTHENTICATED);
  });

  it("if a view has no provider for it", async () => {
    const [key, without] = [await issue(), await issue(null, "18446744073709551615")];
    await knex.raw("RENAME TABLE api_keys TO their_keys");
    await knex.raw(`CREATE VIEW api_keys AS SELECT id, key_hash, NULLIF(provider_id, 18446744073709551615) AS provider_id,
      name, hint, created_at, expires_at, revoked_at FROM their_keys`);
    const outcomes = await Promise.all([key, without].map((each) => outcomeOf(each)));
    await knex.raw("DROP VIEW api_keys");
    await knex.raw("RENAME TABLE their_keys TO api_keys");
    expect(outcomes).toEqual(["1", UNAUTHENTICATED]);
  });

  it("if it was revoked, by itself or by its id, at any time, and no other is", async () => {
    const [byKey, byId, other] = [await issue(), await issue(), await issue()];
    const { id } = await knex("api_keys")
      .where({ key_hash: hashKey(byId) })
      .first();
    await revokeKey(knex, { key: byKey });
    await revokeKey(knex, { id });
    for (const key of [byKey, byId]) {
      expect(await outcomeOf(key)).toBe(UNAUTHENTICATED);
      expect(await outcomeOf(key, 0)).toBe(UNAUTHENTICATED);
    }
    expect(await outcomeOf(other)).toBe("1");
  });
});

it("lookups at the same time find each key and no other, in batches of every size", async () => {
  const keys = await Promise.all(
    Array.from({ length: 3 }, (_, index) =>
      issue(null, index === 1 ? "18446744073709551615" : "1"),
    ),
  );
  for (const unknown of [0, 1, 5, MAX_BATCH, 3 * MAX_BATCH]) {
    const calls = [...keys, ...Array.from({ length: unknown }, generateKey)].map((key) =>
      outcomeOf(key),
    );
    expect(await Promise.all(calls)).toEqual([
      "1",
      "18446744073709551615",
      "1",
      ...Array(unknown).fill(UNAUTHENTICATED),
    ]);
  }
});

it("the query for keys reads a row for each, through the unique index on the hash", async () => {
  const keys = Array.from({ length: 500 }, () => generateKey());
  const row = (key: ApiKey) => ({ key_hash: hashKey(key), hint: hintOf(key) });
  await knex("api_keys").insert(keys.map((key) => ({ provider_id: 1, name: "", ...row(key) })));
  await knex.raw("ANALYZE TABLE api_keys");
  for (const count of [1, 8, MAX_BATCH]) {
    const hashes = keys.slice(0, count).map((key) => hashKey(key).toString("hex"));
    const [plan] = await knex.raw(`EXPLAIN FORMAT=TRADITIONAL ${keysByHash(count)}`, hashes);
    expect(plan).toMatchObject([{ table: "api_keys", key: "api_keys_by_hash" }]);
    expect(Number(plan[0].rows)).toBeLessThanOrEqual(count);
  }
});
