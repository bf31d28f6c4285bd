/** Pooled connections that the database server has closed: no call fails, even if all are closed. */
import { Agent } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { FAST_CLIENTS } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { until } from "../../support/poll.ts";
import { type ProcessList, watchProcesses } from "../../support/process-list.ts";
import { paths, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** How many connections of the pool one provider uses at most: half of them. */
const CONNECTIONS = 5;

let fixture: Fixture;
let processes: ProcessList;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
  // From here on every connection to the database is the service's.
  await fixture.database.knex.destroy();
  processes = await watchProcesses(fixture.database.name);
});
afterAll(async () => {
  await processes?.close();
  await fixture?.dispose();
});
beforeEach(fillPool);

let calls = 0;

/** Resolves to the status. Each call has another period, so that no two share a query. */
async function getBreakdown(agent?: Agent): Promise<number> {
  const year = 2000 + (calls++ % 20);
  const { status } = await rawHttp(fixture.service.http, {
    target: `${paths.GetServerBreakdown}?startDate=${year}-01-01`,
    headers: withKey(fixture.key),
    ...(agent ? { agent } : {}),
  });
  return status;
}

/** The distinct statuses of concurrent calls. */
async function getConcurrently(count: number, agent?: Agent): Promise<number[]> {
  const statuses = await Promise.all(Array.from({ length: count }, () => getBreakdown(agent)));
  return [...new Set(statuses)];
}

/** Makes the pool open these connections: as many calls are in flight at the same time. */
async function fillPool(): Promise<void> {
  await using lock = await lockTable(fixture.database, "charges");
  const statuses = getConcurrently(CONNECTIONS);
  await lock.waitForQueries(CONNECTIONS);
  await lock.release();
  expect(await statuses).toEqual([200]);
}

/** Kills every connection of the pool and waits until the server has closed them. */
async function killConnections(): Promise<void> {
  const ids = await processes.connections();
  expect(ids.length).toBeGreaterThanOrEqual(CONNECTIONS);
  for (const id of ids) await processes.kill(id);
  await until(10_000, async () => (await processes.connections()).length === 0);
}

it("the next calls are answered, one after the other through every client", async () => {
  await killConnections();
  for (const name of FAST_CLIENTS) {
    const outcome = await fixture.clients.get(name).call({
      method: "GetServerBreakdown",
      message: { startDate: "2024-03-01", endDate: "2024-03-31" },
      headers: withKey(fixture.key),
    });
    expect(outcome, name).toHaveProperty("response");
  }
});

it("the next calls are answered concurrently", async () => {
  await killConnections();
  expect(await getConcurrently(4 * CONNECTIONS)).toEqual([200]);
});

it("calls that the service reads before it notices the closed connections are answered", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  await getConcurrently(CONNECTIONS, agent);
  // When the service continues, it reads the calls before the end of its database connections.
  fixture.service.signal("SIGSTOP");
  const statuses = getConcurrently(CONNECTIONS, agent);
  await killConnections();
  fixture.service.signal("SIGCONT");
  expect(await statuses).toEqual([200]);
  agent.destroy();
});
