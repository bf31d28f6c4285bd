/** RATE_LIMIT: each provider has one budget for all RPCs through all protocols. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { type Outcome, withoutHeaders } from "../../support/clients/client.ts";
import { type Clients, FAST_CLIENTS, openClients } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { errorThrough } from "../../support/expected-error.ts";
import { METHODS, type MethodName, withKey } from "../../support/request.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { parseExposition, sumOf } from "../../support/telemetry/exposition.ts";

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
let service: ServiceProcess;
let clients: Clients;
let providers = 100;
beforeAll(async () => {
  database = await createDatabase();
  await smallLedger(database);
  service = await startService(database.url, LIMIT);
  clients = openClients(service);
});
afterAll(async () => {
  clients?.close();
  await service?.kill();
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

/** Makes calls one after the other, of the RPCs in turn. */
async function callEach(names: readonly string[], key: string): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [index, name] of names.entries()) {
    const method = METHODS[index % METHODS.length] as MethodName;
    outcomes.push(await clients.get(name).call({ method, headers: withKey(key) }));
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

it("all keys of a provider spend one budget through every client, and others have their own", async () => {
  const key = await newKey();
  const { key: second } = await issueKey(database.knex, `${providers}`, "second", null);
  await callEach(FAST_CLIENTS, await newKey()); // opens the connections
  await expectOneBudget(async () => [
    ...(await callEach(FAST_CLIENTS, key)),
    ...(await callEach(FAST_CLIENTS, second)),
  ]);
  const others = await callEach(Array(BURST).fill("REST"), await newKey());
  expect(others.every(isAllowed)).toBe(true);
});

it.each(FAST_CLIENTS)("%s: responses and errors tell what is left", async (name) => {
  const client = clients.get(name);
  const headers = withKey(await newKey());
  const outcomes = await Promise.all(
    Array.from({ length: 3 * BURST }, () => client.call({ method: "GetOverview", headers })),
  );
  const policy = { "ratelimit-policy": `"default";q=${BURST};w=${BURST}` };
  expect(outcomes.map(rateLimit)).toContain(`"default";r=${BURST - 1};t=1`);
  for (const outcome of outcomes) expect(outcome.headers).toMatchObject(policy);
  const refused = outcomes.filter((outcome) => !isAllowed(outcome));
  expect(refused.length).toBeGreaterThan(0);
  for (const outcome of refused) {
    expect(withoutHeaders(outcome)).toEqual(errorThrough(client, RATE_LIMITED));
    expect(outcome.headers).toMatchObject({ ratelimit: '"default";r=0;t=1', "retry-after": "1" });
  }
});

it("a request without a valid key spends nothing and is told nothing", async () => {
  for (const { headers, ...outcome } of await callEach(Array(3 * BURST).fill("REST"), "no key")) {
    expect(outcome).toMatchObject({ code: "401" });
    expect(headers).not.toHaveProperty("ratelimit");
  }
});

it("malformed requests count too, and the metrics count what is refused", async () => {
  const shed = async () => {
    const text = await (await fetch(`${service.admin}/metrics`)).text();
    return sumOf(parseExposition(text), "rpc_server_shed_calls_total", { reason: "rateLimited" });
  };
  const before = await shed();
  const headers = withKey(await newKey());
  const target = "/api/provider/revenue/servers?startDate=x";
  const responses = await Promise.all(
    Array.from({ length: 3 * BURST }, () => rawHttp(service.http, { target, headers })),
  );
  const refused = responses.filter(({ status }) => status === 429).length;
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([400, 429]));
  expect((await shed()) - before).toBe(refused);
});
