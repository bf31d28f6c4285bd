/** Pooled connections that the server closed meanwhile: nobody notices, though all are dead at once. */
import { Agent } from "node:http";
import { setTimeout } from "node:timers/promises";
import type { Connection, RowDataPacket } from "mysql2/promise";
import { afterAll, beforeAll, expect, it } from "vitest";
import { QUICK_CLIENTS } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { until } from "../../support/poll.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { lockCharges, observe } from "../../support/service/held-calls.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const POOL = 10;
const ALL_RIGHT = [200];

let fixture: Fixture;
let observer: Connection;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
  await fixture.database.knex.destroy();
  observer = await observe(fixture.database.url);
});
afterAll(async () => {
  await observer?.end();
  await fixture?.dispose();
});

/** The ids of the connections to the database: the service's, since the tests' own are closed. */
async function connections(): Promise<number[]> {
  const [rows] = await observer.query<RowDataPacket[]>(
    "SELECT id FROM information_schema.processlist WHERE db = ?",
    [fixture.database.name],
  );
  return rows.map(({ id, ID }) => Number(id ?? ID));
}

let asked = 0;

/** Asks something else each time: calls that ask the same share a run, and so a connection. */
function ask(agent?: Agent): Promise<number> {
  const headers = withKey(fixture.key);
  return rawHttp(fixture.service.http, {
    target: `/api/provider/revenue/servers?startDate=${2000 + (asked++ % 20)}-01-01`,
    headers,
    ...(agent ? { agent } : {}),
  }).then(({ status }) => status);
}

function askManyAtOnce(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, () => ask()));
}

/** Has the pool open all the connections that it may have: as many calls, held until all are there. */
async function fillPool(): Promise<void> {
  const lock = await lockCharges(fixture.database);
  const calls = askManyAtOnce(POOL);
  await lock.untilWaiting(POOL);
  await lock.release();
  expect([...new Set(await calls)]).toEqual(ALL_RIGHT);
}

/** Kills every connection, and waits until the server is done with it. */
async function killAll(): Promise<number> {
  const ids = await connections();
  for (const id of ids) await observer.query(`KILL ${id}`);
  await until(3_000, async () => (await connections()).length === 0);
  return ids.length;
}

it.each([1, 2, 3])("the next calls are all answered, one after the other (%i)", async () => {
  await fillPool();
  expect(await killAll()).toBe(POOL);
  const statuses: number[] = [];
  for (let i = 0; i < 2 * POOL; i++) statuses.push(await ask());
  expect([...new Set(statuses)]).toEqual(ALL_RIGHT);
});

it.each([1, 2, 3])("the next calls are all answered, all at once (%i)", async () => {
  await fillPool();
  expect(await killAll()).toBe(POOL);
  expect([...new Set(await askManyAtOnce(4 * POOL))]).toEqual(ALL_RIGHT);
});

it.each([1, 2, 3])("calls that arrive before the news are all answered (%i)", async () => {
  await fillPool();
  const agent = new Agent({ keepAlive: true, maxSockets: POOL });
  const asked = () => Promise.all(Array.from({ length: POOL }, () => ask(agent)));
  await asked();
  // What the service reads first when it wakes up are the calls; that all its connections to
  // the database are dead, it reads after that.
  fixture.service.signal("SIGSTOP");
  const statuses = asked();
  await setTimeout(100);
  expect(await killAll()).toBe(POOL);
  fixture.service.signal("SIGCONT");
  expect([...new Set(await statuses)]).toEqual(ALL_RIGHT);
  agent.destroy();
});

it.each(QUICK_CLIENTS)("the next call is answered through %s", async (name) => {
  await fillPool();
  expect(await killAll()).toBe(POOL);
  const outcome = await fixture.clients.named(name).call({
    method: "GetServerBreakdown",
    message: { startDate: "2024-03-01", endDate: "2024-03-31" },
    headers: withKey(fixture.key),
  });
  expect(outcome).toHaveProperty("answer");
});
