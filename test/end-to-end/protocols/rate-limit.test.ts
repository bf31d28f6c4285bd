/** RATE_LIMIT: each provider has one budget for all RPCs through all protocols. How it is spent: test/unit/rpc. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { withoutHeaders } from "../../support/clients/client.ts";
import { CLIENTS } from "../../support/clients/clients.ts";
import { errorThrough } from "../../support/expected-error.ts";
import { type RpcRequest, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const BURST = 5;
const MESSAGE = "too many requests of this caller; retry after the time in Retry-After";
const RATE_LIMITED = {
  status: 429,
  body: JSON.stringify({ error: "Too Many Requests", message: MESSAGE }),
  code: "RESOURCE_EXHAUSTED",
  message: MESSAGE,
};

let fixture: Fixture;
beforeAll(async () => {
  // The lowest rate, so that little is refilled during the test.
  fixture = await createFixture(smallLedger, { RATE_LIMIT: "1", RATE_LIMIT_BURST: `${BURST}` });
});
afterAll(() => fixture?.dispose());

it("all keys of a provider spend one budget through every client, also by malformed requests, and others have their own", async () => {
  const keys = [fixture.key, await fixture.issueKey("1")];
  const started = performance.now();
  const calls = keys.flatMap((key) =>
    CLIENTS.flatMap((name) =>
      [{}, { startDate: "x" }].map(async (message: RpcRequest["message"] & object) => {
        const client = fixture.clients.get(name);
        const request = { method: "GetServerBreakdown", message, headers: withKey(key) } as const;
        return { client, outcome: await client.call(request) };
      }),
    ),
  );
  const outcomes = await Promise.all(calls);
  const spent = outcomes.filter(({ outcome }) => outcome.headers["retry-after"] === undefined);
  const refilled = Math.ceil((performance.now() - started) / 1_000);
  expect(spent.length).toBeGreaterThanOrEqual(BURST);
  expect(spent.length).toBeLessThanOrEqual(BURST + refilled);
  const policy = { "ratelimit-policy": `"default";q=${BURST};w=${BURST}` };
  for (const { client, outcome } of outcomes) {
    if ("response" in outcome) expect(outcome.headers).toMatchObject(policy);
    if (outcome.headers["retry-after"] === undefined) continue;
    expect(withoutHeaders(outcome)).toEqual(errorThrough(client, RATE_LIMITED));
    // A request may come up to 10 ms before its time; then the next one waits for a little over a second.
    expect(outcome.headers).toMatchObject({
      ...policy,
      ratelimit: expect.stringMatching(/^"default";r=0;t=[12]$/),
      "retry-after": expect.stringMatching(/^[12]$/),
    });
  }
  const other = { method: "ListPayouts", headers: withKey(await fixture.issueKey("2")) } as const;
  expect(await fixture.clients.get("REST").call(other)).toMatchObject({
    response: {},
    headers: { ratelimit: `"default";r=${BURST - 1};t=1` },
  });
});
