/** The admin port, and its metrics: they agree with what was sent, and a client cannot add series. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../../../dev/free-port.ts";
import { generateKey } from "../../../src/auth/api-key.ts";
import { CLIENTS } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import type { TestDatabase } from "../../support/database.ts";
import { paths, withKey } from "../../support/request.ts";
import { rollUp } from "../../support/rollup/roll-up.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { type Family, parseExposition, sumOf } from "../../support/telemetry/exposition.ts";

const HTTP_COUNT = "http_server_request_duration_seconds_count";

let fixture: Fixture;

beforeAll(async () => {
  const fill = async (database: TestDatabase) => {
    await smallLedger(database);
    await rollUp(database.knex, { margin: 0 });
  };
  fixture = await createFixture(fill, {
    ADMIN_HOST: "127.0.0.2",
    // One that no other process has on HOST either.
    ADMIN_PORT: `${await freePort()}`,
    TRUSTED_PROXIES: "127.0.0.1",
  });
});
afterAll(() => fixture?.dispose());

it("the log tells at start what runs, and on which addresses: the admin port on ADMIN_HOST only", async () => {
  const listening = fixture.service.log().find(({ msg }) => msg === "listening");
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const { node, tz: tzdata } = process.versions;
  const addresses = { host: "127.0.0.1", adminHost: "127.0.0.2" };
  expect(listening).toMatchObject({ ...addresses, version, node, tzdata });
  await expect(fetch(`http://127.0.0.1:${listening?.adminPort}/livez`)).rejects.toThrow();
});

const metrics = async (): Promise<Map<string, Family>> =>
  parseExposition(await (await fetch(`${fixture.service.admin}/metrics`)).text());

it.each(CLIENTS)("%s: every call is counted by method, protocol and status", async (name) => {
  const client = fixture.clients.get(name);
  const sent = [
    { method: "GetOverview", key: fixture.key, status: "OK", times: 3 },
    { method: "GetServerBreakdown", key: fixture.key, status: "OK", times: 2 },
    { method: "GetOverview", key: generateKey(), status: "UNAUTHENTICATED", times: 4 },
  ] as const;
  const before = await metrics();
  for (const { method, key, times } of sent) {
    for (let i = 0; i < times; i++) await client.call({ method, headers: withKey(key) });
  }
  const after = await metrics();
  const { protocol } = client;
  const grown = (metric: string, labels = {}) =>
    sumOf(after, metric, labels) - sumOf(before, metric, labels);
  for (const { method, status, times } of sent) {
    const labels = { method, protocol, status };
    expect(grown("rpc_server_call_duration_seconds_count", labels), status).toBe(times);
  }
  expect(grown("rpc_server_call_duration_seconds_count")).toBe(9);
  expect(grown("revenue_authentication_failures_total")).toBe(4);
  expect(grown(HTTP_COUNT)).toBe(protocol === "grpc" ? 0 : 9);
  expect(grown("revenue_cache_requests_total")).toBeGreaterThanOrEqual(9);
  expect(sumOf(after, "rpc_server_active_calls")).toBe(0);
});

it("statements, waits and connections are measured by pool and by short name", async () => {
  const families = await metrics();
  const operations = families
    .get("db_client_operation_duration_seconds")
    ?.samples.map(({ labels }) => labels.operation);
  expect([...new Set(operations)].sort()).toEqual(["api_keys", "breakdown", "facts", "overview"]);
  for (const pool of ["calls", "keys"]) {
    expect(sumOf(families, "db_client_connection_wait_time_seconds_count", { pool })).not.toBe(0);
    expect(sumOf(families, "db_client_connection_count", { pool })).toBeGreaterThan(0);
  }
  expect(sumOf(families, "db_client_connection_pending_requests")).toBe(0);
  expect(sumOf(families, "db_client_connection_max", { pool: "calls" })).toBe(10);
});

it("random paths, methods, keys, addresses and providers add no series", async () => {
  const keys = await Promise.all(["1", "2"].map((provider) => fixture.issueKey(provider)));
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const random = () => randomBytes(8).toString("hex");
  const verbs = ["GET", "POST", "PURGE", "PROPFIND", "DELETE"];
  const kinds: ((index: number) => [method: string, target: string, key: string])[] = [
    (index) => [verbs[index % 4] ?? "GET", `/${random()}/${random()}?${random()}=1`, random()],
    () => ["GET", `${paths.GetOverview}?${random()}=${random()}`, keys[0] ?? ""],
    () => ["GET", paths.GetServerBreakdown, generateKey()],
    () => ["GET", `${paths.GetOverview}/${random()}`, keys[1] ?? ""],
    () => ["POST", `/revenue.v1.RevenueService/${random()}`, random()],
  ];
  let sent = 0;
  const send = () => {
    const index = sent++;
    const [method, target, key] = kinds[index % kinds.length]?.(index) ?? ["GET", "/", ""];
    // Each from an address of its own, so that no failed authentication is beyond the limit.
    const address = ["x-forwarded-for", `10.0.${index >> 8}.${index & 255}`] as const;
    const headers = [...withKey(key), ["x-request-id", random()] as const, address];
    return rawHttp(fixture.service.http, { method, target, headers, agent });
  };
  const sendMany = (count: number) => Promise.all(Array.from({ length: count }, send));
  const series = async () =>
    [...(await metrics()).values()]
      .flatMap(({ samples }) => samples)
      .map(({ name, labels }) => name + JSON.stringify(labels))
      .filter((name) => !name.startsWith("nodejs_gc_"));
  await sendMany(50); // every kind of response
  const [before, sentBefore] = [await series(), sumOf(await metrics(), HTTP_COUNT)];
  await sendMany(150);
  expect((await series()).filter((name) => !before.includes(name))).toEqual([]);
  expect(sumOf(await metrics(), HTTP_COUNT) - sentBefore).toBe(150);
  agent.destroy();
});
