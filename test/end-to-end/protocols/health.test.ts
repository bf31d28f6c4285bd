/** The standard health service: for the server as a whole ("") and for the RevenueService. */
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
  it("is SERVING, without a key", async () => {
    expect(await checkHealth(client, service)).toBe("SERVING");
  });

  it("is told at once to who watches it", async () => {
    const watch = watchHealth(client, service);
    await until(2_000, () => watch.seen.length > 0);
    watch.cancel();
    await watch.over;
    expect(watch.seen.map(({ status }) => status)).toEqual(["SERVING"]);
  });
});

it("lists both names", async () => {
  expect(await listHealth(client)).toEqual({
    "": "SERVING",
    "revenue.v1.RevenueService": "SERVING",
  });
});

it("does not know others", async () => {
  await expect(checkHealth(client, "revenue.v1.Other")).rejects.toThrow("NOT_FOUND");
});
