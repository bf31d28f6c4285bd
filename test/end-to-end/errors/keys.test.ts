/** Who is let in: a valid key in exactly one of the two headers. All others get the same 401. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { revokeKey } from "../../../src/auth/key-registry.ts";
import type { RpcClient, RpcRequest } from "../../support/clients/client.ts";
import { createRawClients, RAW_CLIENTS } from "../../support/clients/raw-clients.ts";
import { bare, through, UNAUTHENTICATED } from "../../support/refusal.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

type Headers = NonNullable<RpcRequest["headers"]>;

let fixture: Fixture;
let clients: readonly RpcClient[];
const keys = { valid: "", expired: "", revoked: "", unknown: generateKey() as string };

beforeAll(async () => {
  fixture = await createFixture(smallLedger);
  clients = createRawClients(fixture.service.http, fixture.service.grpc);
  keys.valid = fixture.key;
  keys.expired = await fixture.issue("1", Date.now() - 1);
  keys.revoked = await fixture.issue("1");
  await revokeKey(fixture.database.knex, { key: keys.revoked as ReturnType<typeof generateKey> });
});
afterAll(async () => {
  for (const door of clients ?? []) door.close();
  await fixture?.dispose();
});

function doorNamed(name: string): RpcClient {
  const door = clients.find((one) => one.name === name);
  if (door === undefined) throw new Error(`there is no door ${name}`);
  return door;
}

const ACCEPTED: readonly (readonly [string, () => Headers])[] = [
  ["X-API-Key", () => [["X-API-Key", keys.valid]]],
  ["x-api-key", () => [["x-api-key", keys.valid]]],
  ["Authorization: Bearer", () => [["Authorization", `Bearer ${keys.valid}`]]],
  ["authorization: bearer", () => [["authorization", `bearer ${keys.valid}`]]],
  ["AUTHORIZATION: BEARER, two spaces", () => [["AUTHORIZATION", `BEARER  ${keys.valid}`]]],
];

const REFUSED: readonly (readonly [string, () => Headers])[] = [
  ["no header", () => []],
  ["an empty X-API-Key", () => [["x-api-key", ""]]],
  ["an empty Authorization", () => [["authorization", ""]]],
  [
    "both headers, both right",
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
    "both headers, one of another scheme",
    () => [
      ["x-api-key", keys.valid],
      ["authorization", "Basic dTpw"],
    ],
  ],
  [
    "X-API-Key twice, the same",
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
  ["two keys in one X-API-Key", () => [["x-api-key", `${keys.valid}, ${keys.valid}`]]],
  ["Bearer in X-API-Key", () => [["x-api-key", `Bearer ${keys.valid}`]]],
  ["a key in quotes", () => [["x-api-key", `"${keys.valid}"`]]],
  ["Authorization without a scheme", () => [["authorization", keys.valid]]],
  ["Bearer without a key", () => [["authorization", "Bearer"]]],
  ["Bearer with a comma", () => [["authorization", `Bearer, ${keys.valid}`]]],
  ["Bearer with something after the key", () => [["authorization", `Bearer ${keys.valid} x`]]],
  ["Basic", () => [["authorization", `Basic ${btoa(`${keys.valid}:`)}`]]],
  ["Token", () => [["authorization", `Token ${keys.valid}`]]],
  ["Bearer without a space", () => [["authorization", `Bearer${keys.valid}`]]],
  ["a key that nobody issued", () => [["x-api-key", keys.unknown]]],
  ["an expired key", () => [["x-api-key", keys.expired]]],
  ["a revoked key", () => [["x-api-key", keys.revoked]]],
  ["a key with another character", () => [["x-api-key", mistyped(keys.valid, 20)]]],
  ["a key with another last character", () => [["x-api-key", mistyped(keys.valid, 52)]]],
  ["a key with two characters exchanged", () => [["x-api-key", exchanged(keys.valid)]]],
  ["a key that is cut", () => [["x-api-key", keys.valid.slice(0, -1)]]],
  ["a key with one more character", () => [["x-api-key", `${keys.valid}0`]]],
  ["a key in capitals", () => [["x-api-key", keys.valid.toUpperCase()]]],
  ["a key without its prefix", () => [["x-api-key", keys.valid.slice(4)]]],
  ["the hint alone", () => [["x-api-key", keys.valid.slice(0, 8)]]],
  ["SQL", () => [["x-api-key", "' OR 1=1 --"]]],
  ["a very long text", () => [["x-api-key", "rvk_".repeat(1_000)]]],
  ["a cookie", () => [["cookie", `x-api-key=${keys.valid}`]]],
  ["another header", () => [["api-key", keys.valid]]],
];

/** What grpc-js and Node's HTTP/2 clients do not send. */
const REFUSED_ON_HTTP1: typeof REFUSED = [
  [
    "Authorization twice, the same",
    () => [
      ["authorization", `Bearer ${keys.valid}`],
      ["authorization", `Bearer ${keys.valid}`],
    ],
  ],
  [
    "Authorization twice, the second of another scheme",
    () => [
      ["authorization", `Bearer ${keys.valid}`],
      ["authorization", "Basic dTpw"],
    ],
  ],
];

function mistyped(key: string, at: number): string {
  return key.slice(0, at) + (key[at] === "a" ? "b" : "a") + key.slice(at + 1);
}

/** The key with the first two neighbours exchanged that differ. */
function exchanged(key: string): string {
  let at = 4;
  while (key[at] === key[at + 1]) at++;
  return key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2);
}

describe.each(RAW_CLIENTS)("through %s", (name) => {
  it.each(ACCEPTED)("%s is accepted", async (_, headers) => {
    const outcome = await doorNamed(name).call({ method: "GetOverview", headers: headers() });
    expect(Object.keys(bare(outcome))).toEqual(["answer"]);
  });

  const refused = name === "gRPC" ? REFUSED : [...REFUSED, ...REFUSED_ON_HTTP1];
  it.each(refused)("%s is refused", async (_, headers) => {
    const door = doorNamed(name);
    const outcome = await door.call({ method: "GetOverview", headers: headers() });
    expect(bare(outcome)).toEqual(through(door, UNAUTHENTICATED));
    if (door.protocol !== "grpc") expect(outcome.head["www-authenticate"]).toBe("Bearer");
  });

  it("a bad key with a bad date is a bad key", async () => {
    const door = doorNamed(name);
    const outcome = await door.call({
      method: "GetServerBreakdown",
      message: { startDate: "x" },
      headers: [["x-api-key", keys.unknown]],
    });
    expect(bare(outcome)).toEqual(through(door, UNAUTHENTICATED));
  });
});
