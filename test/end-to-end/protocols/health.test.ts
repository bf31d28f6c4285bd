/** The standard health service, for the whole server ("") and for the RevenueService. */
import type { Client } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { checkHealth, listHealth, watchHealth } from "../../support/clients/health.ts";
import { until } from "../../support/poll.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
let client: Client;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
  client = grpcClient(fixture.service.grpc);
});
afterAll(async () => {
  client?.close();
  await fixture?.dispose();
});

describe.each(["", "revenue.v1.RevenueService"])('the health of "%s"', (service) => {
  it("is SERVING and needs no key", async () => {
    expect(await checkHealth(client, service)).toBe("SERVING");
  });

  it("is sent at once to a new watch", async () => {
    const watch = watchHealth(client, service);
    await until(10_000, () => watch.statuses.length > 0);
    watch.cancel();
    await watch.ended;
    expect(watch.statuses).toEqual(["SERVING"]);
  });
});

it("the health service lists both names", async () => {
  expect(await listHealth(client)).toEqual({
    "": "SERVING",
    "revenue.v1.RevenueService": "SERVING",
  });
});

it("the health of an unknown service is NOT_FOUND", async () => {
  await expect(checkHealth(client, "revenue.v1.Other")).rejects.toThrow("NOT_FOUND");
});
