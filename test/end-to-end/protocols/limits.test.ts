/**
 * Many calls at once, through every client: 429 for a provider that has too many in flight or has spent its budget, 503
 * if the service has no place. How places and budgets are counted: test/unit/rpc.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Outcome, withoutHeaders } from "../../support/clients/client.ts";
import { CLIENTS } from "../../support/clients/clients.ts";
import {
  type ExpectedError,
  errorThrough,
  OVERLOADED,
  RATE_LIMITED,
  TOO_MANY_CALLS,
  UNAUTHENTICATED,
} from "../../support/expected-error.ts";
import { type RpcRequest, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const MAX_CALLS_PER_PROVIDER = 12;
const MAX_CALLS = 2 * MAX_CALLS_PER_PROVIDER;
/** A second provider gets half of the places that the first leaves. */
const MAX_CALLS_OF_SECOND = MAX_CALLS_PER_PROVIDER / 2;
/** More than the first test spends. */
const BURST = 30;

let fixture: Fixture;
let second: string;
let started: number;
beforeAll(async () => {
  started = performance.now();
  fixture = await createFixture(smallLedger, {
    MAX_CALLS: `${MAX_CALLS}`,
    MAX_CALLS_PER_PROVIDER: `${MAX_CALLS_PER_PROVIDER}`,
    DATABASE_POOL_SIZE: "40", // a run for each second of a busy machine
    RATE_LIMIT: "1", // the lowest, so that little is refilled during the test
    RATE_LIMIT_BURST: `${BURST}`,
  });
  second = await fixture.issueKey("2");
});
afterAll(() => fixture?.dispose());

/** Sends one call through each client, all at once. */
const callAll = (key: string, message: RpcRequest["message"] & object = {}) =>
  Promise.all(
    CLIENTS.map(async (name) => {
      const client = fixture.clients.get(name);
      const request = { method: "GetServerBreakdown", message, headers: withKey(key) } as const;
      return { name, client, outcome: await client.call(request) };
    }),
  );

/** Expects an error of a call through each client. */
async function expectErrors(key: string, error: ExpectedError): Promise<void> {
  for (const { name, client, outcome } of await callAll(key)) {
    expect(withoutHeaders(outcome), name).toEqual(errorThrough(client, error));
    const retryAfter = error === UNAUTHENTICATED ? undefined : "1";
    expect(outcome.headers["retry-after"], name).toBe(retryAfter);
  }
}

it("a provider at its limit gets 429 through every client, and leaves room for another until 503", async () => {
  await using lock = await lockTable(fixture.database, "charges");
  const calls: Promise<Outcome>[] = [];
  /** Sends one call more than are admitted, and waits until that is refused. */
  const hold = (count: number, key: string) => {
    const request = { method: "GetOverview", headers: withKey(key) } as const;
    const client = fixture.clients.get("gRPC, grpc-js");
    const sent = Array.from({ length: count + 1 }, () => client.call(request));
    calls.push(...sent);
    return Promise.race(sent);
  };
  await hold(MAX_CALLS_PER_PROVIDER, fixture.key);
  await expectErrors(fixture.key, TOO_MANY_CALLS);
  await hold(MAX_CALLS_OF_SECOND, second);
  await expectErrors(second, OVERLOADED);
  await expectErrors("no key", UNAUTHENTICATED);
  await lock.release();
  const answered = (await Promise.all(calls)).filter((outcome) => "response" in outcome);
  expect(answered).toHaveLength(MAX_CALLS_PER_PROVIDER + MAX_CALLS_OF_SECOND);
});

it("all keys of a provider spend one budget through every client, also by malformed requests", async () => {
  const keys = [fixture.key, await fixture.issueKey("1")];
  const policy = { "ratelimit-policy": `"default";q=${BURST};w=${BURST}` };
  const refused = new Set<string>();
  let spent = 0;
  for (let round = 0; refused.size < CLIENTS.length; round++) {
    const message = round % 2 === 0 ? {} : { startDate: "x" };
    for (const { name, client, outcome } of await callAll(keys[round % 3 && 1] ?? "", message)) {
      if (outcome.headers["retry-after"] === undefined) {
        spent++;
        if ("response" in outcome) expect(outcome.headers).toMatchObject(policy);
        continue;
      }
      refused.add(name);
      expect(withoutHeaders(outcome)).toEqual(errorThrough(client, RATE_LIMITED));
      // A request may come up to 10 ms before its time; then the next one waits for a little over a second.
      expect(outcome.headers).toMatchObject({
        ...policy,
        ratelimit: expect.stringMatching(/^"default";r=0;t=[12]$/),
        "retry-after": expect.stringMatching(/^[12]$/),
      });
    }
  }
  // Of what the first test left, and of what was refilled.
  expect(spent).toBeLessThanOrEqual(BURST + Math.ceil((performance.now() - started) / 1_000));
});
