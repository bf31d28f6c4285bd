/** Health says NOT_SERVING first, while calls are still taken on: so that nobody is sent to a closed port. */
import type { Client } from "@grpc/grpc-js";
import { afterEach, beforeEach, expect, it } from "vitest";
import { callGrpc, grpcClient } from "../../support/clients/grpc-client.ts";
import { type Watch, watchHealth } from "../../support/clients/health.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { until } from "../../support/poll.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
let clients: Client[];
beforeEach(async () => {
  fixture = await createFixture(smallLedger);
  clients = [grpcClient(fixture.service.grpc), grpcClient(fixture.service.grpc)];
});
afterEach(async () => {
  for (const client of clients) client.close();
  await fixture?.dispose();
});

async function toldToStop(client: Client, service: string): Promise<Watch> {
  const watch = watchHealth(client, service);
  await until(2_000, () => watch.seen.length === 1);
  fixture.service.signal("SIGTERM");
  await until(2_000, () => watch.seen.length === 2);
  return watch;
}

it.each(["", "revenue.v1.RevenueService"])('a watch of "%s" sees it', async (service) => {
  const [client] = clients;
  if (client === undefined) throw new Error("no client");
  const watch = await toldToStop(client, service);
  expect(watch.seen.map(({ status }) => status)).toEqual(["SERVING", "NOT_SERVING"]);
  expect(await fixture.service.ended).toBe(0);
});

it("and REST is still answered then", async () => {
  const [client] = clients;
  if (client === undefined) throw new Error("no client");
  await toldToStop(client, "");
  const { status } = await rawHttp(fixture.service.http, {
    target: "/api/provider/revenue",
    headers: withKey(fixture.key),
  });
  expect(status).toBe(200);
});

it("and gRPC is still answered then, on a connection that was there and on a new one", async () => {
  const [client, other] = clients;
  if (client === undefined || other === undefined) throw new Error("no client");
  await toldToStop(client, "");
  const question = { method: "GetOverview", headers: withKey(fixture.key) } as const;
  const outcomes = await Promise.all([callGrpc(client, question), callGrpc(other, question)]);
  for (const outcome of outcomes) expect(outcome).toHaveProperty("answer");
});
