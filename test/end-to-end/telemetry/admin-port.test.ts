/** The admin port of a running service: what is served where, and readiness. */
import type { Client } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { checkHealth, watchHealth } from "../../support/clients/health.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.ts";
import { until } from "../../support/poll.ts";
import { paths } from "../../support/request.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";

/** Far more than the time in which the probe notices. */
const LIMIT = 20_000;

let database: TestDatabase;
let proxy: DatabaseProxy;
/** A service whose database is behind a proxy. */
let service: ServiceProcess;
let client: Client;

beforeAll(async () => {
  database = await createDatabase();
  proxy = await startDatabaseProxy(database.url);
  service = await startService(proxy.url, { ADMIN_HOST: "127.0.0.2" });
  client = grpcClient(service.grpc);
});
afterAll(async () => {
  client?.close();
  await service?.stop();
  await proxy?.close();
  await database?.drop();
});

const statusOf = async (url: string) => (await fetch(url)).status;
const becomes = (status: number) =>
  until(LIMIT, async () => (await statusOf(`${service.admin}/readyz`)) === status);

it("the admin port serves nothing public, and the HTTP port nothing of it", async () => {
  for (const path of ["/metrics", "/livez", "/readyz"]) {
    expect(await statusOf(service.admin + path), path).toBe(200);
    expect(await statusOf(service.http + path), path).toBe(404);
  }
  for (const path of [...Object.values(paths), "/openapi.json", "/"]) {
    expect(await statusOf(service.admin + path), path).toBe(404);
  }
});

it("without a database /readyz and gRPC's health fail, and /livez and /metrics do not", async () => {
  const watch = watchHealth(client, "");
  proxy.route(database.url.replace(/:\d+\//, ":1/"));
  await becomes(503);
  expect(await (await fetch(`${service.admin}/readyz?verbose`)).text()).toMatch(
    /^\[\+\]shutdown ok\n\[\+\]schema ok\n\[-\]database failed: .+\nreadyz check failed\n$/,
  );
  expect(await checkHealth(client, "")).toBe("NOT_SERVING");
  expect(await statusOf(`${service.admin}/livez`)).toBe(200);
  expect(await (await fetch(`${service.admin}/metrics`)).text()).toMatch(/^revenue_ready 0$/m);

  proxy.route(database.url);
  await becomes(200);
  expect(await checkHealth(client, "")).toBe("SERVING");
  watch.cancel();
  await watch.ended;
  expect(watch.statuses).toEqual(["SERVING", "NOT_SERVING", "SERVING"]);
  const changes = () => service.log().filter(({ msg }) => msg === "ready" || msg === "not ready");
  await until(LIMIT, () => changes().length > 1);
  const lines = changes();
  expect(lines).toMatchObject([
    { level: "warn", msg: "not ready", failed: ["database"] },
    { level: "info", msg: "ready" },
  ]);
  expect(lines[1]).not.toHaveProperty("failed");
});

it("ADMIN_HOST: the admin port listens on this address only, the other ports on HOST", async () => {
  const listening = service.log().find(({ msg }) => msg === "listening");
  expect(listening).toMatchObject({ host: "127.0.0.1", adminHost: "127.0.0.2" });
  await expect(fetch(`http://127.0.0.1:${listening?.adminPort}/livez`)).rejects.toMatchObject({
    cause: { code: "ECONNREFUSED" },
  });
});

it("ADMIN_PORT=off: no admin port", async () => {
  const without = await startService(database.url, { ADMIN_PORT: "off" });
  try {
    expect(without.log().find(({ msg }) => msg === "listening")).not.toHaveProperty("adminPort");
    expect(await statusOf(without.http + paths.GetOverview)).toBe(401);
  } finally {
    await without.stop();
  }
});
