/** Health at SIGTERM: NOT_SERVING first, while the service still accepts calls. */
import type { Client } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callGrpc, grpcClient } from "../../support/clients/grpc-client.ts";
import { watchHealth } from "../../support/clients/health.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
let connected: Client;
let unconnected: Client;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
  connected = grpcClient(fixture.service.grpc);
  unconnected = grpcClient(fixture.service.grpc);
});
afterAll(async () => {
  connected?.close();
  unconnected?.close();
  await fixture?.dispose();
});

it("watches see NOT_SERVING, and calls on old and new connections are still answered", async () => {
  const watches = ["", "revenue.v1.RevenueService"].map((name) => watchHealth(connected, name));
  const received = (count: number) =>
    until(10_000, () => watches.every(({ statuses }) => statuses.length === count));
  await received(1);
  fixture.service.signal("SIGTERM");
  await received(2);

  const headers = withKey(fixture.key);
  const call = { method: "GetOverview", headers } as const;
  const [rest, ...grpc] = await Promise.all([
    rawHttp(fixture.service.http, { target: paths.GetOverview, headers }),
    callGrpc(connected, call),
    callGrpc(unconnected, call),
  ]);
  expect(rest.status).toBe(200);
  for (const outcome of grpc) expect(outcome).toHaveProperty("response");

  expect(await fixture.service.ended).toBe(0);
  for (const { statuses } of watches) expect(statuses).toEqual(["SERVING", "NOT_SERVING"]);
});
