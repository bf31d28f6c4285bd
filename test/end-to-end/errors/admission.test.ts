/**
 * Many calls at once: 429 if a provider has too many in flight, 503 if the service has no place for
 * them. The counts are in test/unit/rpc/admission.test.ts.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Outcome, withoutHeaders } from "../../support/clients/client.ts";
import { CLIENTS } from "../../support/clients/clients.ts";
import {
  type ExpectedError,
  errorThrough,
  OVERLOADED,
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

let fixture: Fixture;
let second: string;
beforeAll(async () => {
  fixture = await createFixture(smallLedger, {
    MAX_CALLS: `${MAX_CALLS}`,
    MAX_CALLS_PER_PROVIDER: `${MAX_CALLS_PER_PROVIDER}`,
  });
  second = await fixture.issueKey("2");
});
afterAll(() => fixture?.dispose());

const call = (request: RpcRequest) => fixture.clients.get("gRPC, grpc-js").call(request);

/** Sends one call through each client, all at once, and expects its error. */
async function expectErrors(key: string, error: ExpectedError): Promise<void> {
  const calls = CLIENTS.map(async (name) => {
    const client = fixture.clients.get(name);
    const outcome = await client.call({ method: "GetOverview", headers: withKey(key) });
    expect(withoutHeaders(outcome), name).toEqual(errorThrough(client, error));
    const retryAfter = error === UNAUTHENTICATED ? undefined : "1";
    expect(outcome.headers["retry-after"], name).toBe(retryAfter);
  });
  await Promise.all(calls);
}

it("a provider at its limit gets 429 through every client, and leaves room for another until 503", async () => {
  await using lock = await lockTable(fixture.database, "charges");
  const calls: Promise<Outcome>[] = [];
  /** Sends one call more than are admitted, and waits until that is refused. */
  const hold = (count: number, key: string) => {
    const request = { method: "GetOverview", headers: withKey(key) } as const;
    const sent = Array.from({ length: count + 1 }, () => call(request));
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
