/**
 * Authentication in every protocol: a valid key in exactly one of the two headers, otherwise the
 * same error whatever is wrong, until an address has sent too many. The table of malformed headers
 * and keys is in test/unit/auth.
 */
import { Agent } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApiKey, generateKey, hashKey } from "../../../src/auth/api-key.ts";
import { FAILURES_PER_ADDRESS } from "../../../src/auth/failure-limit.ts";
import { revokeKey } from "../../../src/auth/key-registry.ts";
import { type Outcome, type RpcClient, withoutHeaders } from "../../support/clients/client.ts";
import { createRawClients, RAW_CLIENTS } from "../../support/clients/raw-clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { errorThrough, TOO_MANY_FAILURES, UNAUTHENTICATED } from "../../support/expected-error.ts";
import { poll, until } from "../../support/poll.ts";
import { paths, type RequestHeaders, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
let clients: readonly RpcClient[];
const keys = { valid: "", expired: "", revoked: "", unknown: generateKey() as string };

beforeAll(async () => {
  fixture = await createFixture(smallLedger, { TRUSTED_PROXIES: "127.0.0.1" });
  clients = createRawClients(fixture.service.http, fixture.service.grpc);
  keys.valid = fixture.key;
  keys.expired = await fixture.issueKey("1", Date.now() - 1);
  keys.revoked = await fixture.issueKey("1");
  await revokeKey(fixture.database.knex, { key: keys.revoked as ApiKey });
});
afterAll(async () => {
  for (const client of clients ?? []) client.close();
  await fixture?.dispose();
});

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
  ["an unknown key", () => [["x-api-key", keys.unknown]]],
  ["an expired key", () => [["x-api-key", keys.expired]]],
  ["a revoked key", () => [["x-api-key", keys.revoked]]],
];

/** Clients of HTTP/2 do not send the Authorization header twice. */
const REJECTED_ON_HTTP1: readonly Case[] = [
  ["Authorization twice with the same key", () => [bearer(), bearer()]],
];

describe.each(RAW_CLIENTS)("through %s", (name) => {
  function client(): RpcClient {
    const found = clients.find((candidate) => candidate.name === name);
    if (found === undefined) throw new Error(`unknown client ${name}`);
    return found;
  }

  it.each(ACCEPTED)("%s is accepted", async (_, headers) => {
    const outcome = await client().call({ method: "GetOverview", headers: headers() });
    expect(outcome).toHaveProperty("response");
  });

  const rejected = name === "gRPC" ? REJECTED : [...REJECTED, ...REJECTED_ON_HTTP1];
  it.each(rejected)("%s is rejected", async (_, headers) => {
    const outcome = await client().call({ method: "GetOverview", headers: headers() });
    expect(withoutHeaders(outcome)).toEqual(errorThrough(client(), UNAUTHENTICATED));
    if (name !== "gRPC") expect(outcome.headers["www-authenticate"]).toBe("Bearer");
  });

  it("an invalid key is rejected before an invalid date", async () => {
    const outcome = await client().call({
      method: "GetServerBreakdown",
      message: { startDate: "x" },
      headers: [["x-api-key", keys.unknown]],
    });
    expect(withoutHeaders(outcome)).toEqual(errorThrough(client(), UNAUTHENTICATED));
  });
});

it.each([
  "/api/provider/revenue?x-api-key=KEY",
  "/api/provider/revenue/servers?startDate=x&limit=1",
])("GET %s without a header is rejected", async (path) => {
  const target = path.replace("KEY", fixture.key);
  const { status, text } = await rawHttp(fixture.service.http, { target });
  expect({ status, text }).toEqual({ status: 401, text: UNAUTHENTICATED.body });
});

/** Whether a key is accepted by REST. If it is not, the error must be the one of every invalid key. */
async function isAccepted(key: string): Promise<boolean> {
  const headers = withKey(key);
  const { status, text } = await rawHttp(fixture.service.http, {
    target: paths.GetOverview,
    headers,
  });
  if (status === 200) return true;
  expect({ status, text }).toEqual({ status: 401, text: UNAUTHENTICATED.body });
  return false;
}

it("a key in use is rejected soon after its revocation", async () => {
  const key = await fixture.issueKey("1");
  expect(await isAccepted(key)).toBe(true);
  await revokeKey(fixture.database.knex, { key: key as ApiKey });
  // A second, with five times the room.
  await until(5_000, async () => !(await isAccepted(key)));
});

it("a key that was rejected as unknown is accepted as soon as it is issued", async () => {
  const key = generateKey();
  expect(await isAccepted(key)).toBe(false);
  const row = { provider_id: 1, name: "test", key_hash: hashKey(key) };
  await fixture.database.knex("api_keys").insert(row);
  expect(await isAccepted(key)).toBe(true);
});

/** Calls from an address behind the trusted proxy. */
function callFrom(address: string, key: string, client = clients[0] as RpcClient) {
  const headers = [...withKey(key), ["x-forwarded-for", address] as const];
  return client.call({ method: "GetOverview", headers });
}

/** Sends as many invalid keys from an address as it may. */
async function exhaust(address: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  const headers = [...withKey("rvk_malformed"), ["x-forwarded-for", address] as const];
  const send = () => rawHttp(fixture.service.http, { target: paths.GetOverview, headers, agent });
  await Promise.all(Array.from({ length: FAILURES_PER_ADDRESS.burst }, send));
  agent.destroy();
}

/** Sends invalid keys until one of them gets 429, which is given back in the meantime at a rate. */
function refusedFrom(address: string, client?: RpcClient): Promise<Outcome> {
  return poll(30_000, async () => {
    const calls = Array.from({ length: 50 }, () => callFrom(address, generateKey(), client));
    const outcomes = await Promise.all(calls);
    return outcomes.find(({ headers }) => headers["retry-after"] !== undefined);
  });
}

it("an address that sent too many invalid keys gets 429 for the next, and valid ones are served", async () => {
  const address = "2001:db8:1:2::1";
  await exhaust(address);
  const refused = await Promise.all(clients.map((client) => refusedFrom(address, client)));
  for (const [index, outcome] of refused.entries()) {
    const client = clients[index] as RpcClient;
    expect(withoutHeaders(outcome)).toEqual(errorThrough(client, TOO_MANY_FAILURES));
    expect(outcome.headers["retry-after"]).toBe("1");
  }
  for (const key of [fixture.key, await fixture.issueKey("1")]) {
    expect(await callFrom(address, key)).toHaveProperty("response");
  }
  // The addresses of an IPv6 /64 count as one.
  expect(withoutHeaders(await refusedFrom("2001:db8:1:2:ffff::9"))).toMatchObject({ code: "429" });
  for (const other of ["2001:db8:1:3::1", "203.0.113.99"]) {
    expect(await callFrom(other, "rvk_malformed")).toMatchObject({ code: "401" });
  }
});

it("a flood of unknown keys fails no valid call, with a key in use or a new one", async () => {
  let done = false;
  let rejected = 0;
  const flood = Array.from({ length: 30 }, async (_, index) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const address = ["x-forwarded-for", `10.9.0.${index}`] as const;
    for (; !done; rejected++) {
      const headers = [...withKey(generateKey()), address];
      await rawHttp(fixture.service.http, { target: paths.GetOverview, headers, agent });
    }
    agent.destroy();
  });
  await until(20_000, () => rejected > 100);
  for (const key of [fixture.key, await fixture.issueKey("1")]) {
    expect(await callFrom("192.0.2.1", key)).toHaveProperty("response");
  }
  done = true;
  await Promise.all(flood);
});
