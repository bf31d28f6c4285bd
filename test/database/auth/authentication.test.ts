import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ApiKey, generateKey, hashKey, hintOf } from "../../../src/auth/api-key.ts";
import { type Authenticate, createAuthentication } from "../../../src/auth/authentication.ts";
import { createFailureLimit } from "../../../src/auth/failure-limit.ts";
import {
  createFindKeys,
  type FindKeys,
  keysByHash,
  MAX_BATCH,
} from "../../../src/auth/key-lookup.ts";
import { createKeyQueue } from "../../../src/auth/key-queue.ts";
import { issueKey, revokeKey } from "../../../src/auth/key-registry.ts";
import { createRead } from "../../../src/db/query.ts";
import { ServiceError } from "../../../src/errors.ts";
import { databaseOfFile } from "../file-database.ts";

const NOW = Date.UTC(2026, 10, 20, 9, 30);
const request = { signal: new AbortController().signal, address: "192.0.2.1" };

const database = await databaseOfFile();
let lookups: Buffer[];
let authenticate: Authenticate;

beforeAll(async () => {
  await database.knex("providers").insert([
    { id: 1, name: "first" },
    { id: "18446744073709551615", name: "last" },
  ]);
});

beforeEach(() => {
  const findKeys = createFindKeys(createRead(database.knex));
  lookups = [];
  const counted: FindKeys = (keyHashes, signal) => {
    lookups.push(...keyHashes);
    return findKeys(keyHashes, signal);
  };
  authenticate = createAuthentication(
    createKeyQueue(counted),
    createFailureLimit(() => ({ allowed: true })),
  );
});

const issue = async (expiresAt: number | null = null, providerId = "1") =>
  (await issueKey(database.knex, providerId, "test", expiresAt)).key;

const callerOf = (key: string, now = NOW) =>
  authenticate({ xApiKey: [key], authorization: [] }, request, now);

/** The caller's provider, or the kind and the message of the error. */
const outcomeOf = (key: string, now = NOW) =>
  callerOf(key, now).then(
    (caller) => caller.providerId,
    (thrown) => (thrown instanceof ServiceError ? `${thrown.kind}: ${thrown.message}` : thrown),
  );

const UNAUTHENTICATED = `unauthenticated: ${new ServiceError("unauthenticated").message}`;

describe("a key", () => {
  it("identifies its provider, in either header", async () => {
    const key = await issue();
    expect(await callerOf(key)).toEqual({ providerId: "1" });
    expect(
      await authenticate({ xApiKey: [], authorization: [`bearer ${key}`] }, request, NOW),
    ).toEqual({ providerId: "1" });
    // Each by its hash alone.
    expect(lookups).toEqual([hashKey(key), hashKey(key)]);
  });
});

describe("a key is rejected", () => {
  it("if it is missing or malformed, without a lookup", async () => {
    const key = await issue();
    for (const text of ["", "rvk_", "x".repeat(53), `${key}0`, key.slice(1), `${key}, ${key}`]) {
      expect(await outcomeOf(text), text).toBe(UNAUTHENTICATED);
    }
    const none = { xApiKey: [], authorization: [] };
    await expect(authenticate(none, request, NOW)).rejects.toThrow(
      new ServiceError("unauthenticated"),
    );
    const both = { xApiKey: [key], authorization: [`Bearer ${key}`] };
    await expect(authenticate(both, request, NOW)).rejects.toThrow(
      new ServiceError("unauthenticated"),
    );
    expect(lookups).toEqual([]);
  });

  it("if it was never issued", async () => {
    expect(await outcomeOf(generateKey())).toBe(UNAUTHENTICATED);
    expect(lookups).toHaveLength(1);
  });

  it("from the millisecond of its expiry", async () => {
    const key = await issue(NOW);
    expect(await outcomeOf(key, NOW - 1)).toBe("1");
    expect(await outcomeOf(key, NOW)).toBe(UNAUTHENTICATED);
    expect(await outcomeOf(key, NOW + 1)).toBe(UNAUTHENTICATED);
  });

  it("if it was revoked, at any time", async () => {
    const key = await issue();
    expect(await outcomeOf(key)).toBe("1");
    await revokeKey(database.knex, { key });
    expect(await outcomeOf(key)).toBe(UNAUTHENTICATED);
    expect(await outcomeOf(key, 0)).toBe(UNAUTHENTICATED);
  });
});

it("a call whose key cannot be looked up fails with the same error", async () => {
  const unavailable = new ServiceError("databaseUnavailable");
  const failing = createAuthentication(
    () => Promise.reject(unavailable),
    createFailureLimit(() => ({ allowed: true })),
  );
  const credentials = { xApiKey: [await issue()], authorization: [] };
  await expect(failing(credentials, request, NOW)).rejects.toBe(unavailable);
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

describe("the query for a key", () => {
  it("reads one row through the unique index on the hash", async () => {
    const key: ApiKey = generateKey();
    const others = Array.from({ length: 500 }, generateKey);
    await database.knex("api_keys").insert(
      [...others, key].map((each) => ({
        provider_id: 1,
        name: "",
        key_hash: hashKey(each),
        hint: hintOf(each),
      })),
    );
    const [plan] = await database.knex.raw(`EXPLAIN FORMAT=TRADITIONAL ${keysByHash(1)}`, [
      hashKey(key).toString("hex"),
    ]);
    expect(plan).toHaveLength(1);
    expect(plan[0]).toMatchObject({
      table: "api_keys",
      type: "const",
      key_len: "32",
      key: "api_keys_by_hash",
    });
  });

  it.each([8, MAX_BATCH])(
    "reads at most %i rows through that index for as many keys",
    async (count) => {
      const hashes = Array.from({ length: count }, () => hashKey(generateKey()).toString("hex"));
      const [plan] = await database.knex.raw(
        `EXPLAIN FORMAT=TRADITIONAL ${keysByHash(count)}`,
        hashes,
      );
      expect(plan).toHaveLength(1);
      expect(plan[0]).toMatchObject({ table: "api_keys", type: "range", key: "api_keys_by_hash" });
      expect(Number(plan[0].rows)).toBeLessThanOrEqual(count);
    },
  );
});
