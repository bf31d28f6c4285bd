/**
 * Identical concurrent calls of one provider share a run, whatever the protocol: they need few
 * queries, and each call sees everything that was committed before it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { FAST_CLIENTS } from "../../support/clients/clients.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { lockTable } from "../../support/service/table-lock.ts";

let fixture: Fixture;
let keys: readonly string[];
beforeAll(async () => {
  fixture = await createFixture(async ({ knex }) => {
    for (const id of [1, 2]) {
      await knex("providers").insert({ id, name: `provider ${id}` });
      await knex("servers").insert({
        ...{ id, provider_id: id, uuid: `server-of-${id}`, name: "server", status: "Active" },
        price_per_hour: "1.0000",
      });
    }
  });
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
  // A run of each provider is in flight when the others arrive.
  const first = [getOverview("REST", 1), getOverview("REST", 2)];
  await lock.waitForQueries(2);
  const calls = [1, 2, 1, 2, 1, 2].map((provider) => ({
    provider,
    outcomes: FAST_CLIENTS.map((client) => getOverview(client, provider)),
  }));
  await lock.waitForQueries(4);
  await sleep(300); // for the other calls to arrive
  await lock.waitForQueries(4, 0);
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
