/**
 * Calls at the same time, through every client: identical ones of one provider share a run, each sees everything that was
 * committed before it, `data-as-of` tells the instant of its snapshot, and one that its caller gives up ends at once.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { CLIENTS, DEADLINE_CLIENTS } from "../../support/clients/clients.ts";
import { until } from "../../support/poll.ts";
import { METHODS, type RpcRequest, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { lockTable } from "../../support/service/table-lock.ts";

/** On a busy machine, calls that wait for a lock, or that all come at once, have a connection all the same. */
const POOL = { DATABASE_POOL_SIZE: "40" };

let fixture: Fixture;
let keys: readonly string[];
beforeAll(async () => {
  fixture = await createFixture(async ({ knex }) => {
    for (const id of [1, 2]) {
      await knex("providers").insert({ id, name: "" });
      const server = { id, provider_id: id, uuid: `server-of-${id}`, price_per_hour: "1.0000" };
      await knex("servers").insert({ ...server, name: "server", status: "Active" });
    }
  }, POOL);
  keys = [fixture.key, await fixture.issueKey("2")];
});
afterAll(() => fixture?.dispose());

function getOverview(client: string, provider: number) {
  const headers = withKey(keys[provider - 1] ?? "");
  return fixture.clients.get(client).call({ method: "GetOverview", headers });
}

it("calls through every client make at most two queries per provider at a time, and see what was committed before them", async () => {
  await Promise.all([getOverview("REST", 1), getOverview("REST", 2)]); // caches the keys
  await using lock = await lockTable(fixture.database, "payouts");
  const start = performance.now();
  // A run of each provider is in flight when the others arrive.
  const first = [getOverview("REST", 1), getOverview("REST", 2)];
  await lock.waitForQueries(2);
  const calls: { provider: number; known: number; outcomes: Promise<unknown>[] }[] = [];
  for (const [nth, provider] of [1, 2, 1, 2, 1, 2].entries()) {
    const charge = { provider_id: provider, server_id: provider, gross: "1.00" };
    await fixture.database.knex("charges").insert({ ...charge, charged_at: "2026-01-01" });
    const outcomes = CLIENTS.map((client) => getOverview(client, provider));
    calls.push({ provider, known: Math.floor(nth / 2) + 1, outcomes });
  }
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
  for (const { provider, known, outcomes } of calls) {
    for (const outcome of await Promise.all(outcomes)) {
      const { response } = outcome as {
        response: { serverRevenue: { grossRevenue: { value: string } }[] };
      };
      expect(response.serverRevenue).toMatchObject([{ serverId: `server-of-${provider}` }]);
      const seen = Number(response.serverRevenue[0]?.grossRevenue.value);
      expect(seen).toBeGreaterThanOrEqual(known);
    }
  }
});

it("data-as-of is the database's time during the call, through every client, for every RPC", async () => {
  const clock = async () => {
    const [[{ now }]] = await fixture.database.knex.raw("SELECT UTC_TIMESTAMP(3) AS now");
    return `${now.replace(" ", "T")}Z`;
  };
  const before = await clock();
  const calls = CLIENTS.flatMap((name) =>
    METHODS.map((method) =>
      fixture.clients.get(name).call({ method, headers: withKey(fixture.key) }),
    ),
  );
  const given = (await Promise.all(calls)).map(({ headers }) => headers["data-as-of"]);
  const after = await clock();
  for (const instant of given) expect([before, instant, after].toSorted()[1]).toBe(instant);
});

/** Starts a call through each client, each of another period, so that none shares a query. */
function startCalls(
  names: readonly string[],
  id: string,
  options: Pick<RpcRequest, "signal" | "timeout">,
) {
  return names.map((name, index) => {
    const requestId = `${id}-${index}`;
    const call = fixture.clients.get(name).call({
      method: "GetServerBreakdown",
      message: { startDate: `${2001 + index}-01-01` },
      headers: [...withKey(fixture.key), ["x-request-id", requestId]],
      ...options,
    });
    // REST and fetch reject if the call is aborted.
    const code = call.then(
      (outcome) => ("code" in outcome ? outcome.code : "OK"),
      () => "CANCELLED",
    );
    return { name, requestId, code };
  });
}

async function expectCodes(calls: ReturnType<typeof startCalls>, client: string, log: string[]) {
  for (const { name, requestId, code } of calls) {
    expect(await code, name).toBe(client);
    const lines = await fixture.service.logOf(requestId);
    expect(lines, name).toHaveLength(1);
    expect(log, name).toContain(lines[0]?.code);
  }
}

it("a call that its caller cancels ends at once", async () => {
  await using lock = await lockTable(fixture.database, "charges");
  const caller = new AbortController();
  const calls = startCalls(CLIENTS, "cancelled", { signal: caller.signal });
  await lock.waitForQueries(calls.length);
  caller.abort();
  await expectCodes(calls, "CANCELLED", ["CANCELLED"]);
});

it("a call whose client's deadline passes ends at it", async () => {
  await using lock = await lockTable(fixture.database, "charges");
  // On a busy machine some end before all are in the database: then others follow.
  for (let timeout = 1_000, isHeld = false; !isHeld; timeout *= 4) {
    const calls = startCalls(DEADLINE_CLIENTS, `late-${timeout}`, { timeout });
    let ended = 0;
    for (const { code } of calls) code.then(() => ended++);
    const before = await lock.queries();
    await until(async () => ended > 0 || (await lock.queries()) >= before + calls.length);
    isHeld = ended === 0;
    if (isHeld) await expectCodes(calls, "DEADLINE_EXCEEDED", ["DEADLINE_EXCEEDED", "CANCELLED"]);
    else await Promise.all(calls.map(({ code }) => code));
  }
});
