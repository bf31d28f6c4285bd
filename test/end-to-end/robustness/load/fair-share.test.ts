/** One provider that asks expensive questions over many connections, beside another one. */
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { rawHttp } from "../../../support/clients/raw-http.ts";
import { paths, withKey } from "../../../support/request.ts";
import { addBulk } from "../../../support/rollup/bulk.ts";
import { createFixture, type Fixture } from "../../../support/service/fixture.ts";

/** Ten years without a rollup: each breakdown adds up all of its charges. */
const CHARGES = 300_000;
const CONNECTIONS = 250;
const DURATION = 6_000;
/** How long a call of the other provider may take, in ms. Without shares it waits for seconds. */
const MAX_MEDIAN = 150;
const MAX_DURATION = 1_500;

let fixture: Fixture;
let otherKey: string;
beforeAll(async () => {
  fixture = await createFixture(({ knex }) =>
    addBulk(knex, [
      { provider: 1, servers: 200, instances: 800, charges: CHARGES, rentals: 5_000, days: 3_650 },
      { provider: 2, servers: 3, instances: 5, charges: 500, rentals: 20 },
    ]),
  );
  otherKey = await fixture.issueKey("2");
});
afterAll(() => fixture?.dispose());

/** A client with one connection; resolves to the status and the `Retry-After` of each request. */
function client(key: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    async get(target: string) {
      const headers = withKey(key);
      const { status, headers: answered } = await rawHttp(fixture.service.http, {
        ...{ target, headers, agent },
      });
      return { status, retryAfter: answered["retry-after"] };
    },
    close: () => agent.destroy(),
  };
}

/** A breakdown of about ten years, different for each call, so that none are coalesced. */
function breakdown(connection: number, call: number): string {
  const end = new Date(Date.now() - 60_000 * (1 + connection) - call).toISOString();
  return `${paths.GetServerBreakdown}?startDate=2016-01-01&endDate=${end}`;
}

it("250 connections with expensive questions leave another provider's overviews as they are", async () => {
  const end = performance.now() + DURATION;
  const answers = new Map<string, number>();
  const attack = Array.from({ length: CONNECTIONS }, async (_, connection) => {
    const heavy = client(fixture.key);
    for (let call = 0; performance.now() < end; call++) {
      const { status, retryAfter } = await heavy.get(breakdown(connection, call));
      const answer = `${status}${retryAfter === undefined ? "" : ` retry after ${retryAfter}`}`;
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      if (status !== 200) await sleep(100);
    }
    heavy.close();
  });
  await sleep(500);
  const other = client(otherKey);
  const durations: number[] = [];
  while (performance.now() < end) {
    const sent = performance.now();
    expect((await other.get(paths.GetOverview)).status).toBe(200);
    durations.push(performance.now() - sent);
    await sleep(10);
  }
  other.close();
  await Promise.all(attack);
  durations.sort((a, b) => a - b);
  expect(durations.length).toBeGreaterThan(20);
  expect(durations[durations.length >> 1]).toBeLessThan(MAX_MEDIAN);
  expect(durations.at(-1)).toBeLessThan(MAX_DURATION);
  // Its own calls are answered, or refused before they cost a statement; none is blamed on us.
  expect(answers.get("200")).toBeGreaterThan(0);
  expect([...answers.keys()].filter((answer) => !/^(200|503 retry after 1)$/.test(answer))).toEqual(
    [],
  );
});
