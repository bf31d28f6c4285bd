/**
 * Many calls at once: 429 if a provider has too many in flight, 503 if the service has no place for
 * them, and a share of the database's connections for each provider.
 */
import type { Client } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Outcome, withoutHeaders } from "../../support/clients/client.ts";
import { FAST_CLIENTS } from "../../support/clients/clients.ts";
import { callGrpc, grpcClient } from "../../support/clients/grpc-client.ts";
import type { TestDatabase } from "../../support/database.ts";
import {
  type ExpectedError,
  errorThrough,
  OVERLOADED,
  TOO_MANY_CALLS,
  UNAUTHENTICATED,
} from "../../support/expected-error.ts";
import { until } from "../../support/poll.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** The limits on calls in flight. */
const MAX_CALLS_PER_PROVIDER = 20;
const MAX_CALLS = 60;
/** A third provider gets half of the places that two with 20 calls each leave. */
const MAX_CALLS_OF_THIRD = (MAX_CALLS - 2 * MAX_CALLS_PER_PROVIDER) / 2;
/** Of ten connections to the database, one provider uses five at most. */
const CONNECTIONS_OF_ONE = 5;
/** How many calls over the limit a test sends, so that their errors show that the limit is reached. */
const EXTRA = 5;

let fixture: Fixture;
let channel: Client;
let keys: readonly string[];
beforeAll(async () => {
  const fill = async (database: TestDatabase) => {
    await smallLedger(database);
    await database.knex("providers").insert({ id: 3, name: "third" });
  };
  fixture = await createFixture(fill, {
    MAX_CALLS: `${MAX_CALLS}`,
    MAX_CALLS_PER_PROVIDER: `${MAX_CALLS_PER_PROVIDER}`,
  });
  keys = await Promise.all(["1", "2", "3"].map((provider) => fixture.issueKey(provider)));
  channel = grpcClient(fixture.service.grpc);
});
afterAll(async () => {
  channel?.close();
  await fixture?.dispose();
});

/** Sends calls at once. */
function sendCalls(count: number, key: string): Promise<Outcome>[] {
  const request = { method: "GetOverview", headers: withKey(key) } as const;
  return Array.from({ length: count }, () => callGrpc(channel, request));
}

/** Sends one call through each client. */
function callAll(key: string): readonly Promise<Outcome>[] {
  return FAST_CLIENTS.map((name) =>
    fixture.clients.get(name).call({ method: "GetOverview", headers: withKey(key) }),
  );
}

/** Waits until the extra calls have their errors: then all the others are in flight. */
async function untilLimitReached(calls: readonly Promise<Outcome>[]): Promise<void> {
  let ended = 0;
  for (const call of calls) call.then(() => ended++);
  await until(5_000, () => ended === EXTRA);
}

async function expectErrors(calls: readonly Promise<Outcome>[], error: ExpectedError) {
  for (const [index, outcome] of (await Promise.all(calls)).entries()) {
    const client = fixture.clients.get(FAST_CLIENTS[index] ?? "");
    expect(withoutHeaders(outcome), client.name).toEqual(errorThrough(client, error));
    const retryAfter = error === UNAUTHENTICATED ? undefined : "1";
    expect(outcome.headers["retry-after"], client.name).toBe(retryAfter);
  }
}

/** The number of calls with each code; OK for a response. */
async function countByCode(calls: readonly Promise<Outcome>[]): Promise<Record<string, number>> {
  const codes = (await Promise.all(calls)).map((one) => ("code" in one ? one.code : "OK"));
  return Object.fromEntries(
    Object.entries(Object.groupBy(codes, (code) => code)).map(([code, of]) => [
      code,
      of?.length ?? 0,
    ]),
  );
}

it("a provider with as many calls in flight as it may have gets 429 through every client", async () => {
  await using lock = await lockTable(fixture.database, "charges");
  const calls = sendCalls(MAX_CALLS_PER_PROVIDER + EXTRA, fixture.key);
  await untilLimitReached(calls);
  await expectErrors(callAll(fixture.key), TOO_MANY_CALLS);
  await lock.release();
  expect(await countByCode(calls)).toEqual({
    OK: MAX_CALLS_PER_PROVIDER,
    RESOURCE_EXHAUSTED: EXTRA,
  });
});

it("beside two of these, a third provider gets half of the rest, and 503 beyond", async () => {
  await using lock = await lockTable(fixture.database, "charges");
  const [first = "", second = "", third = ""] = keys;
  const calls: Promise<Outcome>[] = [];
  for (const [key, count] of [
    [first, MAX_CALLS_PER_PROVIDER],
    [second, MAX_CALLS_PER_PROVIDER],
    [third, MAX_CALLS_OF_THIRD],
  ] as const) {
    const sent = sendCalls(count + EXTRA, key);
    await untilLimitReached(sent);
    calls.push(...sent);
  }
  await expectErrors(callAll(third), OVERLOADED);
  await expectErrors(callAll("no key"), UNAUTHENTICATED);
  await lock.release();
  expect(await countByCode(calls)).toEqual({
    OK: 2 * MAX_CALLS_PER_PROVIDER + MAX_CALLS_OF_THIRD,
    RESOURCE_EXHAUSTED: 2 * EXTRA,
    UNAVAILABLE: EXTRA,
  });
});

it("the questions of one provider leave connections to the database for another", async () => {
  await using lock = await lockTable(fixture.database, "charges");
  /** Each with a period of its own, so that none shares its answer. */
  const ask = (index: number, key = "") =>
    callGrpc(channel, {
      method: "GetServerBreakdown",
      message: { startDate: "2024-01-01", endDate: new Date(1.72e12 + index).toISOString() },
      headers: withKey(key),
    });
  const many = Array.from({ length: MAX_CALLS_PER_PROVIDER }, (_, index) => ask(index, keys[0]));
  await lock.waitForQueries(CONNECTIONS_OF_ONE, 10_000);
  const other = ask(200, keys[1]);
  await lock.waitForQueries(CONNECTIONS_OF_ONE + 1, 10_000);
  await lock.release();
  expect(await other).toHaveProperty("response");
  await Promise.all(many);
});

it("calls are answered again when those in flight have ended", async () => {
  for (const outcome of await Promise.all(callAll(fixture.key))) {
    expect(outcome).toHaveProperty("response");
  }
});
