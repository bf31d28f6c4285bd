/** RATE_LIMIT: each provider has one budget for all RPCs through all protocols. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Outcome, withoutHeaders } from "../../support/clients/client.ts";
import { FAST_CLIENTS } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { errorThrough } from "../../support/expected-error.ts";
import { METHODS, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const BURST = 5;
/** The lowest rate, so that little is refilled during a test. */
const LIMIT = { RATE_LIMIT: "1", RATE_LIMIT_BURST: `${BURST}` };

const RATE_LIMITED = {
  status: 429,
  body: '{"error":"Too Many Requests","message":"too many requests of this caller; retry after the time in Retry-After"}',
  code: "RESOURCE_EXHAUSTED",
  message: "too many requests of this caller; retry after the time in Retry-After",
};

let fixture: Fixture;
let providers = 100;
beforeAll(async () => {
  fixture = await createFixture(smallLedger, LIMIT);
});
afterAll(() => fixture?.dispose());

/** A key of a provider that has not called yet. */
async function newKey(): Promise<string> {
  const id = ++providers;
  await fixture.database.knex("providers").insert({ id, name: `provider ${id}` });
  return fixture.issueKey(`${id}`);
}

const isAllowed = (outcome: Outcome) => "response" in outcome;
const rateLimit = ({ headers }: Outcome) => headers.ratelimit ?? "";

it("all keys of a provider spend one budget through every client and RPC, and others have their own", async () => {
  const key = await newKey();
  const second = await fixture.issueKey(`${providers}`);
  const started = performance.now();
  const calls = [key, second].flatMap((key) =>
    FAST_CLIENTS.flatMap((name) =>
      METHODS.map((method) => fixture.clients.get(name).call({ method, headers: withKey(key) })),
    ),
  );
  const allowed = (await Promise.all(calls)).filter(isAllowed).length;
  const refilled = Math.ceil((performance.now() - started) / 1_000);
  expect(allowed).toBeGreaterThanOrEqual(BURST);
  expect(allowed).toBeLessThanOrEqual(BURST + refilled);
  const other = { method: "GetOverview", headers: withKey(await newKey()) } as const;
  expect(await fixture.clients.get("REST").call(other)).toHaveProperty("response");
});

it.each(FAST_CLIENTS)("%s: responses and errors tell what is left", async (name) => {
  const client = fixture.clients.get(name);
  const headers = withKey(await newKey());
  const outcomes: Outcome[] = [];
  // On a busy machine, as much may be refilled meanwhile.
  const isRefused = (outcome: Outcome) => !isAllowed(outcome);
  while (!outcomes.some(isRefused)) {
    const calls = Array.from({ length: 3 * BURST }, () =>
      client.call({ method: "GetOverview", headers }),
    );
    outcomes.push(...(await Promise.all(calls)));
  }
  const policy = { "ratelimit-policy": `"default";q=${BURST};w=${BURST}` };
  expect(outcomes.map(rateLimit)).toContain(`"default";r=${BURST - 1};t=1`);
  for (const outcome of outcomes) expect(outcome.headers).toMatchObject(policy);
  for (const outcome of outcomes.filter(isRefused)) {
    expect(withoutHeaders(outcome)).toEqual(errorThrough(client, RATE_LIMITED));
    // A request may come up to 10 ms before its time; then the next one waits for a little over a second.
    expect(outcome.headers).toMatchObject({
      ratelimit: expect.stringMatching(/^"default";r=0;t=[12]$/),
      "retry-after": expect.stringMatching(/^[12]$/),
    });
  }
});

it("malformed requests count too", async () => {
  const headers = withKey(await newKey());
  const target = "/api/provider/revenue/servers?startDate=x";
  const statuses = new Set<number>();
  while (!statuses.has(429)) {
    const send = () => rawHttp(fixture.service.http, { target, headers });
    const responses = await Promise.all(Array.from({ length: 3 * BURST }, send));
    for (const { status } of responses) statuses.add(status);
  }
  expect(statuses).toEqual(new Set([400, 429]));
});
