/**
 * Whatever the protocol, identical concurrent calls of one provider share a run, each call sees
 * everything that was committed before it, and `data-as-of` tells the instant of its snapshot.
 */
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from "vitest";
import { type Clients, FAST_CLIENTS, openClients } from "../../support/clients/clients.ts";
import { DATABASE_UNAVAILABLE, errorThrough } from "../../support/expected-error.ts";
import { until } from "../../support/poll.ts";
import { METHODS, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { startService } from "../../support/service/service-process.ts";
import { lockTable } from "../../support/service/table-lock.ts";

/** On a busy machine, calls that wait for a lock, or that all come at once, have a connection all the same. */
const POOL = { DATABASE_POOL_SIZE: "40" };

let fixture: Fixture;
let keys: readonly string[];
beforeAll(async () => {
  fixture = await createFixture(async ({ knex }) => {
    for (const id of [1, 2]) {
      await knex("providers").insert({ id, name: `provider ${id}` });
      await knex("servers").insert({
        id,
        provider_id: id,
        uuid: `server-of-${id}`,
        name: "server",
        status: "Active",
        price_per_hour: "1.0000",
      });
    }
  }, POOL);
  keys = [fixture.key, await fixture.issueKey("2")];
});
afterAll(() => fixture?.dispose());
beforeEach(() => fixture.database.knex("charges").del());

function getOverview(client: string, provider: number): Promise<unknown> {
  const headers = withKey(keys[provider - 1] ?? "");
  return fixture.clients.get(client).call({ method: "GetOverview", headers });
}

const overview = (uuid: string, gross: string) => ({
  response: { serverRevenue: [{ serverId: uuid, grossRevenue: { value: gross } }] },
});

it("many calls through every client make at most two queries per provider at a time", async () => {
  await Promise.all([getOverview("REST", 1), getOverview("REST", 2)]); // caches the keys
  await using lock = await lockTable(fixture.database, "payouts");
  const start = performance.now();
  // A run of each provider is in flight when the others arrive.
  const first = [getOverview("REST", 1), getOverview("REST", 2)];
  await lock.waitForQueries(2);
  const calls = [1, 2, 1, 2, 1, 2].map((provider) => ({
    provider,
    outcomes: FAST_CLIENTS.map((client) => getOverview(client, provider)),
  }));
  await lock.waitForQueries(4);
  const all = [...first, ...calls.flatMap(({ outcomes }) => outcomes)];
  let ended = 0;
  for (const outcome of all) outcome.then(() => ended++);
  await until(async () => ended > 0 || (await fixture.activeCalls()) === all.length);
  // A query too many would wait for the lock as well. A run counts for a second only.
  const queries = await lock.queries();
  const seconds = Math.floor((performance.now() - start) / 1_000);
  expect(queries).toBeLessThanOrEqual(4 * (1 + seconds));
  await lock.release();
  await Promise.all(first);
  for (const { provider, outcomes } of calls) {
    for (const outcome of await Promise.all(outcomes)) {
      expect(outcome).toMatchObject(overview(`server-of-${provider}`, "0.00"));
    }
  }
});

it("a call sees what was committed before it, although earlier calls are in flight", async () => {
  await using lock = await lockTable(fixture.database, "payouts");
  const earlier = [getOverview("REST", 1)];
  await lock.waitForQueries(1);
  earlier.push(getOverview("gRPC, grpc-js", 1));
  await lock.waitForQueries(2);
  const calls: Promise<unknown>[] = [];
  for (let charges = 1; charges <= 5; charges++) {
    await fixture.database
      .knex("charges")
      .insert({ provider_id: 1, server_id: 1, charged_at: "2026-01-01", gross: "1.00" });
    calls.push(...FAST_CLIENTS.map((client) => getOverview(client, 1)));
  }
  await lock.release();
  await Promise.all(earlier);
  for (const outcome of await Promise.all(calls)) {
    expect(outcome).toMatchObject(overview("server-of-1", "5.00"));
  }
});

/** The texts of `data-as-of` through every client, for every RPC. */
async function instants(clients: Clients): Promise<(string | undefined)[]> {
  const calls = FAST_CLIENTS.flatMap((name) =>
    METHODS.map((method) => clients.get(name).call({ method, headers: withKey(keys[0] ?? "") })),
  );
  return (await Promise.all(calls)).map(({ headers }) => headers["data-as-of"]);
}

it("data-as-of is the database's time during the call", async () => {
  const clock = async () => {
    const [[{ now }]] = await fixture.database.knex.raw("SELECT UTC_TIMESTAMP(3) AS now");
    return `${now.replace(" ", "T")}Z`;
  };
  const [before, given, after] = [await clock(), await instants(fixture.clients), await clock()];
  for (const instant of given) expect([before, instant, after].toSorted()[1]).toBe(instant);
});

it("with DATABASE_READ_MAX_LAG_MS, data-as-of is the heartbeat, and without one calls fail, the process stays ready", async () => {
  const { database } = fixture;
  const environment = { ...POOL, DATABASE_READ_MAX_LAG_MS: "3600000" };
  const service = await startService(database.url, environment);
  const clients = openClients(service);
  onTestFinished(async () => {
    clients.close();
    await service.kill();
  });
  await database.knex.raw(
    "REPLACE INTO heartbeat VALUES (1, UTC_TIMESTAMP(3) - INTERVAL 1 SECOND)",
  );
  const { written_at } = await database.knex("heartbeat").first();
  const heartbeat = `${written_at.replace(" ", "T")}Z`;
  expect(new Set(await instants(clients))).toEqual(new Set([heartbeat]));
  await database.knex("heartbeat").del();
  const headers = withKey(keys[0] ?? "");
  const fail = FAST_CLIENTS.map(async (name) => {
    const client = clients.get(name);
    const expected = errorThrough(client, DATABASE_UNAVAILABLE);
    expect(await client.call({ method: "GetOverview", headers }), name).toMatchObject(expected);
  });
  await Promise.all(fail);
  expect((await fetch(`${service.admin}/readyz`)).status).toBe(200);
});
