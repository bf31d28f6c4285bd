/**
 * Authentication in every protocol: a valid key in exactly one of the two headers, otherwise the
 * same error whatever is wrong. The table of malformed headers and keys is in test/unit/auth.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApiKey, generateKey } from "../../../src/auth/api-key.ts";
import { revokeKey } from "../../../src/auth/key-registry.ts";
import { type RpcClient, withoutHeaders } from "../../support/clients/client.ts";
import { createRawClients, RAW_CLIENTS } from "../../support/clients/raw-clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { errorThrough, UNAUTHENTICATED } from "../../support/expected-error.ts";
import type { RequestHeaders } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
let clients: readonly RpcClient[];
const keys = { valid: "", expired: "", revoked: "", unknown: generateKey() as string };

beforeAll(async () => {
  fixture = await createFixture(smallLedger);
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

const ACCEPTED: readonly Case[] = [
  ["X-API-Key", () => [["X-API-Key", keys.valid]]],
  ["Authorization: Bearer", () => [["Authorization", `Bearer ${keys.valid}`]]],
  ["authorization: bearer", () => [["authorization", `bearer ${keys.valid}`]]],
];

const REJECTED: readonly Case[] = [
  ["no header", () => []],
  [
    "both headers, both valid",
    () => [
      ["x-api-key", keys.valid],
      ["authorization", `Bearer ${keys.valid}`],
    ],
  ],
  [
    "both headers, one empty",
    () => [
      ["x-api-key", keys.valid],
      ["authorization", ""],
    ],
  ],
  [
    "X-API-Key twice with the same key",
    () => [
      ["x-api-key", keys.valid],
      ["x-api-key", keys.valid],
    ],
  ],
  [
    "X-API-Key twice, the second empty",
    () => [
      ["x-api-key", keys.valid],
      ["x-api-key", ""],
    ],
  ],
  ["an unknown key", () => [["x-api-key", keys.unknown]]],
  ["an expired key", () => [["x-api-key", keys.expired]]],
  ["a revoked key", () => [["x-api-key", keys.revoked]]],
  ["a mistyped key", () => [["x-api-key", mistyped(keys.valid)]]],
  ["a very long key", () => [["x-api-key", "rvk_".repeat(1_000)]]],
  ["a key in a cookie", () => [["cookie", `x-api-key=${keys.valid}`]]],
];

/** Clients of HTTP/2 do not send the Authorization header twice. */
const REJECTED_ON_HTTP1: readonly Case[] = [
  [
    "Authorization twice with the same key",
    () => [
      ["authorization", `Bearer ${keys.valid}`],
      ["authorization", `Bearer ${keys.valid}`],
    ],
  ],
  [
    "Authorization twice, the second with another scheme",
    () => [
      ["authorization", `Bearer ${keys.valid}`],
      ["authorization", "Basic dTpw"],
    ],
  ],
];

/** The key with its last character changed. */
function mistyped(key: string): string {
  return key.slice(0, -1) + (key.endsWith("a") ? "b" : "a");
}

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
  "/api/provider/revenue?access_token=KEY",
  "/api/provider/revenue?KEY",
  "/api/provider/revenue/servers?startDate=x&limit=1",
  "/api/provider/revenue/servers?startDate=%zz",
])("GET %s without a header is rejected, and the key is not logged", async (path) => {
  const target = path.replace("KEY", fixture.key);
  const { status, text } = await rawHttp(fixture.service.http, { target });
  expect({ status, text }).toEqual({ status: 401, text: UNAUTHENTICATED.body });
  expect(fixture.service.output()).not.toContain(fixture.key.slice(8));
});
