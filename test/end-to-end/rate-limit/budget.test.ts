/** RATE_LIMIT: each provider has one budget for both RPCs through all protocols, and over all replicas. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { type Outcome, withoutHeaders } from "../../support/clients/client.ts";
import { type Clients, FAST_CLIENTS, openClients } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { errorThrough } from "../../support/expected-error.ts";
import { until } from "../../support/poll.ts";
import { type RedisServer, startRedisServer } from "../../support/redis/redis-server.ts";
import { withKey } from "../../support/request.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const BURST = 5;
/** The lowest rate, so that little is refilled during a test. */
const LIMIT = { RATE_LIMIT: "1", RATE_LIMIT_BURST: `${BURST}` };

const RATE_LIMITED = {
  status: 429,
  body: '{"error":"Too Many Requests","message":"too many requests of this provider; retry after the time in Retry-After"}',
  code: "RESOURCE_EXHAUSTED",
  message: "too many requests of this provider; retry after the time in Retry-After",
};

let database: TestDatabase;
let redis: RedisServer;
/** The first counts for itself; the other two share a store. */
let services: readonly [ServiceProcess, ServiceProcess, ServiceProcess];
let clients: readonly Clients[];
let providers = 100;
beforeAll(async () => {
  [database, redis] = await Promise.all([createDatabase(), startRedisServer()]);
  await smallLedger(database);
  const shared = { ...LIMIT, RATE_LIMIT_STORE: redis.url };
  services = await Promise.all([
    startService(database.url, LIMIT),
    startService(database.url, shared),
    startService(database.url, shared),
  ]);
  clients = services.map(openClients);
  await until(10_000, async () =>
    (await redis.command("ZCARD revenue:rate-limit:replicas")).includes(":2"),
  );
  await sleep(1_100); // the first one counts again after a second
});
afterAll(async () => {
  for (const one of clients ?? []) one.close();
  await Promise.all((services ?? []).map((service) => service.stop()));
  await redis?.stop();
  await database?.drop();
});

/** A key of a provider that has not called yet. */
async function newKey(): Promise<string> {
  const id = ++providers;
  await database.knex("providers").insert({ id, name: `provider ${id}` });
  return (await issueKey(database.knex, `${id}`, "test", null)).key;
}

const isAllowed = (outcome: Outcome) => "response" in outcome;
const rateLimit = ({ headers }: Outcome) => headers.ratelimit ?? "";

/** Makes calls one after the other, of both RPCs in turn. */
async function callEach(
  calls: readonly (readonly [service: number, client: string])[],
  key: string,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [index, [service, name]] of calls.entries()) {
    const client = clients[service]?.get(name);
    if (client === undefined) throw new Error(`there is no service ${service}`);
    const method = index % 2 === 0 ? "GetOverview" : "GetServerBreakdown";
    outcomes.push(await client.call({ method, headers: withKey(key) }));
  }
  return outcomes;
}

/** The burst, and what the rate refills in the time that `run` took. */
async function expectOneBudget(run: () => Promise<readonly Outcome[]>): Promise<void> {
  const started = performance.now();
  const outcomes = await run();
  const seconds = (performance.now() - started) / 1_000;
  const allowed = outcomes.filter(isAllowed).length;
  expect(outcomes.length).toBeGreaterThan(BURST + seconds);
  expect(allowed).toBeGreaterThanOrEqual(BURST);
  expect(allowed).toBeLessThanOrEqual(BURST + seconds);
}

it("every client spends the same budget, with both RPCs", async () => {
  const key = await newKey();
  const calls = [...FAST_CLIENTS, ...FAST_CLIENTS, ...FAST_CLIENTS].map(
    (name) => [0, name] as const,
  );
  await callEach(calls.slice(0, FAST_CLIENTS.length), await newKey()); // opens the connections
  await expectOneBudget(() => callEach(calls, key));
});

it.each(FAST_CLIENTS)("%s: a response tells what is left", async (name) => {
  const [first, second] = await callEach(
    [
      [0, name],
      [0, name],
    ],
    await newKey(),
  );
  expect(first).toHaveProperty("response");
  expect(first?.headers).toMatchObject({
    "ratelimit-policy": `"default";q=${BURST};w=${BURST}`,
    ratelimit: `"default";r=${BURST - 1};t=1`,
  });
  expect(rateLimit(second as Outcome)).toMatch(/^"default";r=[34];t=[12]$/);
});

it.each(FAST_CLIENTS)("%s: a refused call is an error with the same headers", async (name) => {
  const key = await newKey();
  const send = () => clients[0]?.get(name).call({ method: "GetOverview", headers: withKey(key) });
  const outcomes = (await Promise.all(Array.from({ length: 3 * BURST }, send))) as Outcome[];
  const refused = outcomes.filter((outcome) => !isAllowed(outcome));
  expect(refused.length).toBeGreaterThan(BURST);
  for (const outcome of refused) {
    const client = clients[0]?.get(name) as { protocol: "rest" };
    expect(withoutHeaders(outcome)).toEqual(errorThrough(client, RATE_LIMITED));
    expect(outcome.headers).toMatchObject({
      "ratelimit-policy": `"default";q=${BURST};w=${BURST}`,
      ratelimit: '"default";r=0;t=1',
      "retry-after": "1",
    });
  }
});

it("a provider that is refused does not concern another", async () => {
  const [busy, quiet] = [await newKey(), await newKey()];
  const outcomes = await callEach(Array(BURST + 5).fill([0, "REST"]), busy);
  expect(outcomes.every(isAllowed)).toBe(false);
  const others = await callEach(Array(BURST).fill([0, "REST"]), quiet);
  expect(others.every(isAllowed)).toBe(true);
});

it("two keys of one provider spend one budget", async () => {
  const first = await newKey();
  const { key: second } = await issueKey(database.knex, `${providers}`, "second", null);
  await expectOneBudget(async () => [
    ...(await callEach(Array(2 * BURST).fill([0, "REST"]), first)),
    ...(await callEach(Array(2 * BURST).fill([0, "REST"]), second)),
  ]);
});

it("a request without a valid key spends nothing and is told nothing", async () => {
  const outcomes = await callEach(Array(3 * BURST).fill([0, "REST"]), "no key");
  for (const { headers, ...outcome } of outcomes) {
    expect(outcome).toMatchObject({ code: "401" });
    expect(headers).not.toHaveProperty("ratelimit");
    expect(headers).not.toHaveProperty("ratelimit-policy");
  }
});

it("a malformed request is counted", async () => {
  const key = await newKey();
  const { status } = await rawHttp(services[0].http, {
    target: "/api/provider/revenue/servers?startDate=x",
    headers: withKey(key),
  });
  expect(status).toBe(400);
  const [next] = await callEach([[0, "REST"]], key);
  expect(rateLimit(next as Outcome)).toMatch(/^"default";r=3;/);
});

it("two replicas share one budget in the store", async () => {
  const calls = Array.from({ length: 4 * BURST }, (_, index) => [1 + (index % 2), "REST"] as const);
  const key = await newKey();
  await expectOneBudget(() => callEach(calls, key));
});

it("calls are answered without the store, and each replica allows its part", async () => {
  const key = await newKey();
  await redis.kill();
  try {
    for (const service of [1, 2]) {
      const outcomes = await callEach(Array(2 * BURST).fill([service, "REST"]), key);
      const codes = new Set(outcomes.map((outcome) => ("code" in outcome ? outcome.code : "200")));
      expect([...codes].sort()).toEqual(["200", "429"]);
      const allowed = outcomes.filter(isAllowed).length;
      expect(allowed).toBeGreaterThanOrEqual(Math.floor(BURST / 2));
      expect(allowed).toBeLessThan(BURST);
    }
  } finally {
    await redis.start();
  }
});

it("nothing is written to stderr, and the service stops at once without the store", async () => {
  await redis.suspend();
  try {
    await callEach(Array(BURST).fill([1, "REST"]), await newKey());
    const started = performance.now();
    expect(await services[1].stop()).toBe(0);
    expect(performance.now() - started).toBeLessThan(5_000);
    const lines = services[1].output().trimEnd().split("\n");
    expect(lines.filter((line) => !line.startsWith("{"))).toEqual([]);
  } finally {
    redis.resume();
  }
});
