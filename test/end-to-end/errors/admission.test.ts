/** Too many calls at once: 429 for the provider that has too many, 503 when the service has. */
import { setTimeout } from "node:timers/promises";
import type { Client } from "@grpc/grpc-js";
import { createConnection } from "mysql2/promise";
import { afterAll, beforeAll, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import type { Outcome } from "../../support/clients/client.ts";
import { QUICK_CLIENTS } from "../../support/clients/clients.ts";
import { callGrpc, grpcClient } from "../../support/clients/grpc-client.ts";
import { checkHealth } from "../../support/clients/health.ts";
import { bare, OVERLOADED, type Refusal, TOO_MANY_CALLS, through } from "../../support/refusal.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** How many calls may be under way at once. */
const PER_PROVIDER = 250;
const IN_ALL = 1_000;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

/** Locks a table until it is released: whatever reads it waits. */
async function lock(table: string) {
  const connection = await createConnection(fixture.database.url);
  await connection.query(`LOCK TABLES ${table} WRITE`);
  return { release: () => connection.end(), destroy: () => connection.destroy() };
}

/** Sends calls over some connections, so that no connection's limit of streams holds them back. */
function send(clients: readonly Client[], count: number, key: string): Promise<Outcome[]> {
  const question = { method: "GetOverview", headers: withKey(key) } as const;
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      callGrpc(clients[index % clients.length] as Client, question),
    ),
  );
}

/** Opens enough connections for all calls that the service takes. */
function openClients(): Client[] {
  return Array.from({ length: 8 }, () => grpcClient(fixture.service.grpc));
}

/** One call through each door, at once. */
function callAll(key: string): readonly Promise<Outcome>[] {
  return QUICK_CLIENTS.map((name) =>
    fixture.clients.named(name).call({ method: "GetOverview", headers: withKey(key) }),
  );
}

function expectRefused(outcomes: readonly Outcome[], refusal: Refusal): void {
  for (const [index, outcome] of outcomes.entries()) {
    const door = fixture.clients.named(QUICK_CLIENTS[index] ?? "");
    expect(bare(outcome), door.name).toEqual(through(door, refusal));
    expect(outcome.head["retry-after"], door.name).toBe("1");
  }
}

/**
 * Has the service take on everything that `ask` sends in one go: it sleeps meanwhile, so that
 * however slowly the test sends, no call is older than another when the service wakes up.
 */
async function inOneGo<T>(clients: readonly Client[], ask: () => T): Promise<T> {
  fixture.service.signal("SIGSTOP");
  const asked = ask();
  await setTimeout(300);
  fixture.service.signal("SIGCONT");
  // Behind everything else through each door, and answered without the database.
  await Promise.all(clients.map((client) => checkHealth(client, "")));
  await Promise.all(callAll("no key"));
  return asked;
}

// A call waits no longer than two seconds for a connection to the database, and what is held here
// must be held by then: a machine that is very busy gets another try.
const BUSY = { retry: 2 };

it("a provider with 250 calls under way gets 429, through every door", BUSY, async () => {
  const clients = openClients();
  await Promise.all([...callAll(fixture.key), ...clients.map((client) => checkHealth(client, ""))]); // every door is open already
  const keys = await lock("api_keys");
  const charges = await lock("charges");
  try {
    const { held, refused } = await inOneGo(clients, () => {
      // Keys are looked up on several connections at once, so that the last of these may be
      // overtaken: some more than may be held are sent, so that who knocks then is too late.
      const held = send(clients, PER_PROVIDER + 30, fixture.key);
      return { held, refused: setTimeout(100).then(() => Promise.all(callAll(fixture.key))) };
    });
    await keys.release();
    expectRefused(await refused, TOO_MANY_CALLS);
    await charges.release();
    const answered = (await held).filter((outcome) => "answer" in outcome);
    expect(answered).toHaveLength(PER_PROVIDER);
  } finally {
    keys.destroy();
    charges.destroy();
    for (const client of clients) client.close();
  }
});

it("a service with 1,000 calls under way answers 503, through every door", BUSY, async () => {
  const clients = openClients();
  await Promise.all([...callAll(fixture.key), ...clients.map((client) => checkHealth(client, ""))]);
  const keys = await lock("api_keys");
  try {
    // Keys that nobody issued: they are asked for in the database like any other.
    const { held } = await inOneGo(clients, () => ({ held: send(clients, IN_ALL, generateKey()) }));
    expectRefused(await Promise.all(callAll(fixture.key)), OVERLOADED);
    expectRefused(await Promise.all(callAll("no key")), OVERLOADED);
    await keys.release();
    const codes = (await held).map((outcome) => "code" in outcome && outcome.code);
    expect(new Set(codes)).toEqual(new Set(["UNAUTHENTICATED"]));
  } finally {
    keys.destroy();
    for (const client of clients) client.close();
  }
});

it("afterwards everybody is answered again", async () => {
  for (const outcome of await Promise.all(callAll(fixture.key)))
    expect(outcome).toHaveProperty("answer");
});
