/**
 * Authentication in every protocol: a valid key in exactly one of the two headers, otherwise the
 * same error whatever is wrong, until an address has sent too many. The tables of keys that are
 * malformed, unknown, expired or revoked are in test/unit/auth and test/database/auth.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApiKey, generateKey, hashKey } from "../../../src/auth/api-key.ts";
import { FAILURES_PER_ADDRESS } from "../../../src/auth/authentication.ts";
import { revokeKey } from "../../../src/auth/key-registry.ts";
import { withoutHeaders } from "../../support/clients/client.ts";
import { FAST_CLIENTS } from "../../support/clients/clients.ts";
import { errorThrough, TOO_MANY_FAILURES, UNAUTHENTICATED } from "../../support/expected-error.ts";
import { poll, until } from "../../support/poll.ts";
import { type RequestHeaders, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
const keys = { valid: "", unknown: generateKey() as string };

beforeAll(async () => {
  fixture = await createFixture(smallLedger, { TRUSTED_PROXIES: "127.0.0.1" });
  keys.valid = fixture.key;
});
afterAll(() => fixture?.dispose());

type Case = readonly [name: string, headers: () => RequestHeaders];

const key = () => ["x-api-key", keys.valid] as const;
const bearer = () => ["authorization", `Bearer ${keys.valid}`] as const;

const ACCEPTED: readonly Case[] = [
  ["X-API-Key", () => [key()]],
  ["Authorization: Bearer", () => [bearer()]],
];

const REJECTED: readonly Case[] = [
  ["no header", () => []],
  ["both headers, both valid", () => [key(), bearer()]],
  ["X-API-Key twice with the same key", () => [key(), key()]],
  ["an unknown key", () => withKey(keys.unknown)],
];

describe.each(FAST_CLIENTS)("through %s", (name) => {
  const call = (headers: RequestHeaders, message = {}) =>
    fixture.clients.get(name).call({ method: "GetServerBreakdown", message, headers });

  it.each(ACCEPTED)("%s is accepted", async (_, headers) => {
    expect(await call(headers())).toHaveProperty("response");
  });

  it.each(REJECTED)("%s is rejected, also before an invalid date", async (_, headers) => {
    const client = fixture.clients.get(name);
    for (const message of [{}, { startDate: "x" }]) {
      const outcome = await call(headers(), message);
      expect(withoutHeaders(outcome)).toEqual(errorThrough(client, UNAUTHENTICATED));
      const expected = client.protocol === "grpc" ? undefined : "Bearer";
      expect(outcome.headers["www-authenticate"]).toBe(expected);
    }
  });
});

/** Whether a key is accepted by REST. If it is not, the error must be the one of every invalid key. */
async function isAccepted(key: string): Promise<boolean> {
  const rest = fixture.clients.get("REST");
  const outcome = await rest.call({ method: "GetOverview", headers: withKey(key) });
  if ("response" in outcome) return true;
  expect(withoutHeaders(outcome)).toEqual(errorThrough(rest, UNAUTHENTICATED));
  return false;
}

it("a key in use is rejected soon after its revocation", async () => {
  const key = await fixture.issueKey("1");
  expect(await isAccepted(key)).toBe(true);
  await revokeKey(fixture.database.knex, { key: key as ApiKey });
  await until(async () => !(await isAccepted(key)));
});

it("a key that was rejected as unknown is accepted as soon as it is issued", async () => {
  const key = generateKey();
  expect(await isAccepted(key)).toBe(false);
  const row = { provider_id: 1, name: "test", key_hash: hashKey(key) };
  await fixture.database.knex("api_keys").insert(row);
  expect(await isAccepted(key)).toBe(true);
});

/** Calls from an address behind the trusted proxy. */
function callFrom(address: string, key: string, client = "REST") {
  const headers = [...withKey(key), ["x-forwarded-for", address] as const];
  return fixture.clients.get(client).call({ method: "GetOverview", headers });
}

it("an address that sends too many invalid keys gets 429; valid keys, also new ones, are served", async () => {
  const address = "203.0.113.9";
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      for (let count = 0; count < FAILURES_PER_ADDRESS.burst / 20; count++) {
        await callFrom(address, "malformed");
      }
    }),
  );
  const refusals = FAST_CLIENTS.map(async (name) => {
    const client = fixture.clients.get(name);
    // What is refilled meanwhile is used up first, by many calls at once.
    const refused = await poll(async () => {
      const calls = Array.from({ length: 20 }, () => callFrom(address, generateKey(), name));
      const outcomes = await Promise.all(calls);
      return outcomes.find(({ headers }) => headers["retry-after"] !== undefined);
    });
    expect(withoutHeaders(refused)).toEqual(errorThrough(client, TOO_MANY_FAILURES));
    expect(refused.headers["retry-after"]).toBe("1");
  });
  for (const key of [fixture.key, await fixture.issueKey("1")]) {
    expect(await callFrom(address, key)).toHaveProperty("response");
  }
  expect(await callFrom("203.0.113.99", "malformed")).toMatchObject({ code: "401" });
  await Promise.all(refusals);
});
