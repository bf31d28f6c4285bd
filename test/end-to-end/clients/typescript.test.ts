/** The TypeScript client on the real service. Which answers it repeats: test/unit/clients/client.test.ts. */
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  Code,
  createRevenueClient,
  decimal,
  type RevenueClientOptions,
} from "../../../clients/typescript/src/index.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.ts";
import { until } from "../../support/poll.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** A client that counts its requests. */
function countingClient(options: Partial<RevenueClientOptions> = {}) {
  const statuses: number[] = [];
  const client = createRevenueClient({
    baseUrl: fixture.service.http,
    apiKey: fixture.key,
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
let proxy: DatabaseProxy;
/** It serves a provider once per second, and its database can go away. */
let limited: ServiceProcess;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
  proxy = await startDatabaseProxy(fixture.database.url);
  limited = await startService(proxy.url, { RATE_LIMIT: "1" });
});
afterAll(async () => {
  await limited?.stop();
  await proxy?.close();
  await fixture?.dispose();
});

it("returns amounts with the digits of the ledger, and counts and instants typed", async () => {
  const { client } = countingClient();
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
  const { client, statuses } = countingClient({ apiKey: async () => keys.shift() ?? "" });
  await client.getOverview({});
  await expect(client.getOverview({})).rejects.toMatchObject({ code: Code.Unauthenticated });
  await client.getOverview({});
  expect(statuses).toEqual([200, 401, 200]);
});

it("throws what the service says about a parameter, with the id of the request", async () => {
  const { client, statuses } = countingClient();
  const thrown = await client.getServerBreakdown({ startDate: "March" }).catch((error) => error);
  expect(thrown).toMatchObject({ code: Code.InvalidArgument });
  expect(thrown.rawMessage).toContain("startDate");
  expect(thrown.metadata.get("x-request-id")).toMatch(/^[\w-]{36}$/);
  expect(statuses).toEqual([400]);
});

it("does not repeat a message that is too large", async () => {
  const { client, statuses } = countingClient();
  const call = client.getServerBreakdown({ startDate: "1".repeat(70_000) });
  await expect(call).rejects.toMatchObject({ code: Code.ResourceExhausted });
  expect(statuses).toEqual([413]);
});

it("comes back to a service whose database was away", async () => {
  proxy.route("mysql://127.0.0.1:1/gone");
  const { client, statuses } = countingClient({ baseUrl: limited.http, retries: 10 });
  const call = client.getOverview({});
  await until(10_000, () => statuses.includes(503));
  proxy.route(fixture.database.url);
  expect(decimal((await call).summary?.availableBalance)).toBe("1250.50");
});

it("waits for its turn at a rate limit", async () => {
  const { client, statuses } = countingClient({ baseUrl: limited.http });
  await client.getOverview({});
  await client.getOverview({});
  expect(statuses.filter((status) => status === 200)).toHaveLength(2);
  expect(statuses).toContain(429);
});
