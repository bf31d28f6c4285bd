/** The TypeScript client on the real service. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  Code,
  createRevenueClient,
  decimal,
  type RevenueClientOptions,
} from "../../../clients/typescript/src/index.ts";
import { until } from "../../support/poll.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import {
  createPrivateFixture,
  type PrivateFixture,
} from "../../support/service/private-fixture.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** A client that counts its requests. */
function countingClient(options: Omit<RevenueClientOptions, "fetch">) {
  const statuses: number[] = [];
  const client = createRevenueClient({
    ...options,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      statuses.push(response.status);
      return response;
    },
  });
  return { client, statuses };
}

let fixture: Fixture;
/** It has one place for a call, and serves a provider once per second. */
let limited: ServiceProcess;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
  limited = await startService(fixture.database.url, { MAX_CALLS: "1", RATE_LIMIT: "1" });
});
afterAll(async () => {
  await limited?.stop();
  await fixture?.dispose();
});

it("returns amounts with the digits of the ledger, and counts and instants typed", async () => {
  const client = createRevenueClient({ baseUrl: fixture.service.http, apiKey: fixture.key });
  const overview = await client.getOverview({});
  expect(decimal(overview.summary?.availableBalance)).toBe("1250.50");
  expect(overview.serverRevenue.map(({ grossRevenue }) => decimal(grossRevenue))).toEqual([
    "4500.05",
  ]);
  const breakdown = await client.getServerBreakdown({
    startDate: "2024-03-01",
    endDate: "2024-03-31",
  });
  expect(decimal(breakdown.totalRevenue)).toBe("4500.05");
  expect(breakdown.totalRentals).toBe(1);
});

it("asks a function for the key of each call", async () => {
  const keys = [fixture.key, "rvk_unknown", fixture.key];
  const apiKey = async () => keys.shift() ?? "";
  const { client, statuses } = countingClient({ baseUrl: fixture.service.http, apiKey });
  await client.getOverview({});
  await expect(client.getOverview({})).rejects.toMatchObject({ code: Code.Unauthenticated });
  await client.getOverview({});
  expect(statuses).toEqual([200, 401, 200]);
});

it("throws what the service says about a parameter, with the id of the request", async () => {
  const { client, statuses } = countingClient({
    baseUrl: fixture.service.http,
    apiKey: fixture.key,
  });
  const thrown = await client.getServerBreakdown({ startDate: "March" }).catch((error) => error);
  expect(thrown).toMatchObject({ code: Code.InvalidArgument });
  expect(thrown.rawMessage).toContain("startDate");
  expect(thrown.metadata.get("x-request-id")).toMatch(/^[\w-]{36}$/);
  expect(statuses).toEqual([400]);
});

it("does not repeat a message that is too large", async () => {
  const { client, statuses } = countingClient({
    baseUrl: fixture.service.http,
    apiKey: fixture.key,
  });
  const call = client.getServerBreakdown({ startDate: "1".repeat(70_000) });
  await expect(call).rejects.toMatchObject({ code: Code.ResourceExhausted });
  expect(statuses).toEqual([413]);
});

it("waits for its turn at a rate limit", async () => {
  const { client, statuses } = countingClient({ baseUrl: limited.http, apiKey: fixture.key });
  await client.getOverview({});
  await client.getOverview({});
  expect(statuses.filter((status) => status === 200)).toHaveLength(2);
  expect(statuses).toContain(429);
});

it("comes back to a service that was overloaded", async () => {
  const [first, second] = await Promise.all(["1", "2"].map((id) => fixture.issueKey(id)));
  const holder = createRevenueClient({ baseUrl: limited.http, apiKey: first ?? "" });
  const { client, statuses } = countingClient({ baseUrl: limited.http, apiKey: second ?? "" });
  await using lock = await lockTable(fixture.database, "charges");
  const held = holder.getOverview({}).catch(() => {});
  await lock.waitForQueries(1);
  const call = client.getOverview({});
  await until(10_000, () => statuses.includes(503));
  await lock.release();
  await Promise.all([held, call]);
  expect(statuses.at(-1)).toBe(200);
});

describe.skipIf(process.env.DATABASE_URL)("while the database is away", () => {
  let own: PrivateFixture;
  beforeAll(async () => {
    own = await createPrivateFixture();
    await own.server.kill();
  });
  afterAll(() => own?.dispose());

  it("gives up after its retries, with UNAVAILABLE", async () => {
    const { client, statuses } = countingClient({ baseUrl: own.service.http, apiKey: own.key });
    await expect(client.getOverview({})).rejects.toMatchObject({ code: Code.Unavailable });
    expect(statuses).toEqual([503, 503, 503, 503]);
  });

  it("succeeds if the database returns meanwhile", async () => {
    const options = { baseUrl: own.service.http, apiKey: own.key, retries: 10 };
    const { client, statuses } = countingClient(options);
    const call = client.getOverview({});
    await until(10_000, () => statuses.length > 0);
    await own.server.start();
    expect(decimal((await call).summary?.availableBalance)).toBe("1250.50");
  });

  it("reports a service that cannot be reached as UNAVAILABLE", async () => {
    await own.service.stop();
    const client = createRevenueClient({ baseUrl: own.service.http, apiKey: own.key });
    await expect(client.getOverview({})).rejects.toMatchObject({
      code: Code.Unavailable,
      rawMessage: "the service cannot be reached",
    });
  });
});
