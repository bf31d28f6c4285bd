/**
 * Calls of one provider that ask the same at the same time share a run, through whichever
 * clients they came: few statements, and nothing that one of them must see is missing.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createConnection } from "mysql2/promise";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { QUICK_CLIENTS } from "../../support/clients/clients.ts";
import { type ProcessList, watchProcesses } from "../../support/process-list.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";

/** What the statement of an overview can be told by. */
const OVERVIEW = "FROM payouts WHERE provider_id";

let fixture: Fixture;
let processes: ProcessList;
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
  processes = await watchProcesses(fixture.database.name);
  keys = [fixture.key, await fixture.issue("2")];
});
afterAll(async () => {
  await processes?.close();
  await fixture?.dispose();
});
beforeEach(() => fixture.database.knex("charges").del());

/** Makes every overview wait until it is released. */
async function hold() {
  const connection = await createConnection(fixture.database.url);
  await connection.query("LOCK TABLES payouts WRITE");
  return () => connection.end();
}

function ask(door: string, provider: number): Promise<unknown> {
  const headers = withKey(keys[provider - 1] ?? "");
  return fixture.clients.named(door).call({ method: "GetOverview", headers });
}

const waiting = (statements: number) =>
  expect.poll(() => processes.running(OVERVIEW), { timeout: 10_000 }).toHaveLength(statements);

const told = (uuid: string, gross: string) => ({
  answer: {
    serverRevenue: [{ serverId: uuid, grossRevenue: { value: gross } }],
  },
});

it("many calls through every door are never more than two statements per provider", async () => {
  await Promise.all([ask("REST", 1), ask("REST", 2)]); // who they are is known now
  const release = await hold();
  const calls = [1, 2, 1, 2, 1, 2].map((provider) => ({
    provider,
    answers: QUICK_CLIENTS.map((door) => ask(door, provider)),
  }));
  await waiting(4);
  await sleep(300); // time enough for every other call to arrive
  await waiting(4);
  await release();
  for (const { provider, answers } of calls) {
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatchObject(told(`server-of-${provider}`, "0.00"));
    }
  }
});

it("a call sees what was committed before it, whatever is under way already", async () => {
  const release = await hold();
  const early = [ask("REST", 1), ask("gRPC, grpc-js", 1)];
  await waiting(2);
  const calls: Promise<unknown>[] = [];
  for (let i = 1; i <= 5; i++) {
    await fixture.database
      .knex("charges")
      .insert({ provider_id: 1, server_id: 1, charged_at: "2026-01-01", gross: "1.00" });
    calls.push(...QUICK_CLIENTS.map((door) => ask(door, 1)));
  }
  await release();
  await Promise.all(early);
  for (const answer of await Promise.all(calls)) {
    expect(answer).toMatchObject(told("server-of-1", "5.00"));
  }
});
