/**
 * What a process tells of its calls: a line of the log, counts in its metrics and a span for each, the same through
 * every client, and never a key. The fields of each error are in test/unit/telemetry, and the lines of requests that
 * are no calls in test/unit/gateway and test/unit/grpc.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../../../dev/free-port.ts";
import { createRandom } from "../../../dev/random.ts";
import { generateKey } from "../../../src/auth/api-key.ts";
import { CLIENTS } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { poll, until } from "../../support/poll.ts";
import { paths, type RequestHeaders, type RpcRequest, withKey } from "../../support/request.ts";
import { rollUp } from "../../support/rollup/roll-up.ts";
import { SEED, SEEDED } from "../../support/seed.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { parseExposition, sumOf } from "../../support/telemetry/exposition.ts";
import {
  startTraceCollector,
  type TraceCollector,
} from "../../support/telemetry/trace-collector.ts";

const [INTERNAL, SERVER, CLIENT] = [1, 2, 3];
const PARENT = "00f067aa0ba902b7";

let collector: TraceCollector;
let fixture: Fixture;
let serviceKey: string;
beforeAll(async () => {
  collector = await startTraceCollector();
  fixture = await createFixture(
    async (database) => {
      await smallLedger(database);
      await rollUp(database.knex, { margin: 0 });
    },
    {
      ADMIN_HOST: "127.0.0.2",
      // One that no other process has on HOST either.
      ADMIN_PORT: `${await freePort()}`,
      TRUSTED_PROXIES: "127.0.0.1",
      SERVICE_KEYS: "all",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
      OTEL_BSP_SCHEDULE_DELAY: "50",
    },
  );
  serviceKey = await fixture.issueServiceKey("support");
});
afterAll(async () => {
  await fixture?.dispose();
  collector?.close();
});

const metrics = async () =>
  parseExposition(await (await fetch(`${fixture.service.admin}/metrics`)).text());

/** Waits for the SERVER spans of a trace, which are exported after those below them. */
const spansOf = (traceId: string, calls = 1) =>
  poll(() => {
    const spans = collector.spans().filter((span) => span.traceId === traceId);
    return spans.filter(({ kind }) => kind === SERVER).length >= calls ? spans : undefined;
  });

let traces = 0;
/** A new trace, and the headers of a call in it. `flags` 01: the caller records it. */
function newTrace(flags = "01") {
  const traceId = `${++traces}`.padStart(32, "a");
  const requestId = `Root=1-67891233:${traceId}`;
  const headers = [
    ["traceparent", `00-${traceId}-${PARENT}-${flags}`],
    ["x-request-id", requestId],
  ] as const;
  return { traceId, requestId, headers };
}

it("the log tells at start what runs, and on which addresses: the admin port on ADMIN_HOST only", async () => {
  const listening = fixture.service.log().find(({ msg }) => msg === "listening");
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const { node, tz: tzdata } = process.versions;
  const addresses = { host: "127.0.0.1", adminHost: "127.0.0.2" };
  expect(listening).toMatchObject({ ...addresses, version, node, tzdata });
  await expect(fetch(`http://127.0.0.1:${listening?.adminPort}/livez`)).rejects.toThrow();
});

const ID = expect.stringMatching(/^\d+$/);
const OK = { code: "OK", level: "info", msg: "call" };
const REFUSED = { level: "info", msg: "call refused" };
const INVALID = { ...REFUSED, code: "INVALID_ARGUMENT", reason: "invalidArgument" };
/** A date that would write lines and colours of its own, and how it is shown. */
const HARMFUL = `2026-11-01"\u001b[31m\n{"level":"fatal"}${"x".repeat(1_000)}`;
const SHOWN = `2026-11-01"\\u{1b}[31m\\u{a}{"level":"fatal"}${"x".repeat(14)}…`;

type Line = Readonly<Record<string, unknown>> & {
  readonly code: string;
  readonly reason?: string;
  readonly key?: { readonly kind: string; readonly name?: string };
};

/** Calls and what their lines have besides what all have. */
function calls(): readonly [RpcRequest["method"], RequestHeaders, RpcRequest["message"], Line][] {
  const key = withKey(fixture.key);
  const own = { key: { id: ID, kind: "provider" }, providerId: "1" };
  const service = { key: { id: ID, kind: "service", name: "support" } };
  const about = (id: string) => [...withKey(serviceKey), ["x-provider-id", id] as const];
  const asked = { endDate: "x", timeZone: "Asia/Kolkata" };
  const harmful = { ...INVALID, asked: { startDate: SHOWN }, field: "startDate" };
  const unknown = { ...REFUSED, code: "UNAUTHENTICATED", reason: "unauthenticated" };
  const notFound = { ...REFUSED, code: "NOT_FOUND", reason: "providerNotFound" };
  return [
    ["GetOverview", key, {}, { ...own, ...OK }],
    ["GetServerBreakdown", key, asked, { ...own, ...INVALID, asked, field: "endDate" }],
    ["GetServerBreakdown", key, { startDate: HARMFUL }, { ...own, ...harmful }],
    ["GetOverview", withKey(generateKey()), {}, unknown],
    ["GetOverview", about("1"), {}, { ...service, ...OK, ...{ providerId: "1" } }],
    ["ListProviderRevenue", withKey(serviceKey), {}, { ...service, ...OK }],
    ["GetOverview", about("99"), {}, { ...service, ...notFound }],
    ["GetOverview", about("x"), {}, { ...service, ...INVALID }],
  ];
}

it.each(CLIENTS)(
  "through %s, each call has a line, a count and a span with its key and reason",
  async (name) => {
    const client = fixture.clients.get(name);
    const { protocol } = client;
    const before = await metrics();
    const send = async ([method, sent, message = {}, line]: ReturnType<typeof calls>[number]) => {
      const { traceId, requestId, headers } = newTrace();
      const outcome = await client.call({ method, message, headers: [...sent, ...headers] });
      expect(outcome.headers["x-request-id"]).toBe(requestId);
      const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      const common = { time, ms: expect.any(Number), protocol, requestId, method, traceId };
      expect(await fixture.service.logOf(requestId)).toEqual([{ ...common, ...line }]);
      return { traceId, method, line };
    };
    const sent = await Promise.all(calls().map(send));

    const after = await metrics();
    const grown = (metric: string, labels = {}) =>
      sumOf(after, metric, labels) - sumOf(before, metric, labels);
    for (const { method, line } of sent) {
      const labels = { method, protocol, status: line.code };
      const times = sent.filter((one) => one.method === method && one.line.code === line.code);
      expect(grown("rpc_server_call_duration_seconds_count", labels)).toBe(times.length);
    }
    expect(grown("rpc_server_call_duration_seconds_count")).toBe(sent.length);
    expect(grown("revenue_authentication_failures_total")).toBe(1);
    expect(grown("http_server_request_duration_seconds_count")).toBe(
      protocol === "grpc" ? 0 : sent.length,
    );
    expect(sumOf(after, "rpc_server_active_calls")).toBe(0);

    for (const { traceId, method, line } of sent) {
      const spans = await spansOf(traceId);
      const call = spans.find(({ kind }) => kind === SERVER);
      const service =
        method === "ListProviderRevenue" ? "PlatformRevenueService" : "RevenueService";
      expect(call).toMatchObject({
        name: `revenue.v1.${service}/${method}`,
        parentSpanId: PARENT,
        attributes: {
          "rpc.method": `revenue.v1.${service}/${method}`,
          "rpc.response.status_code": line.code,
          "revenue.protocol": protocol,
          ...(line.reason && { "error.type": line.reason }),
          ...(line.key && { "revenue.key.kind": line.key.kind, "revenue.key.id": ID }),
          ...(line.key?.name && { "revenue.key.name": line.key.name }),
        },
        statusCode: 0, // a refused call is no error of the server
        resource: { "service.name": "revenue-service", "deployment.environment.name": "test" },
      });
      const below = spans.filter((span) => span !== call);
      expect(below.every(({ parentSpanId }) => parentSpanId === call?.spanId)).toBe(true);
      const statements = below.filter(({ kind }) => kind === CLIENT).map((span) => span.name);
      // The facts are asked for on the connection of the statement after them.
      const waits = statements.filter((statement) => statement !== "facts");
      expect(below.filter(({ kind }) => kind === INTERNAL)).toHaveLength(waits.length);
      if (method === "GetOverview" && line.code === "OK") expect(statements).toContain("facts");
    }
  },
);

it("a call whose caller does not record it is not exported; one that shared a run has a span of its own, without statements", async () => {
  const client = fixture.clients.get("REST");
  const [dropped, shared] = [newTrace("00"), newTrace()];
  const call = ({ headers }: typeof shared) =>
    client.call({ method: "GetOverview", headers: [...withKey(fixture.key), headers[0]] });
  await call(dropped);
  const count = 6;
  await using lock = await lockTable(fixture.database, "charges");
  const answers = [call(shared)];
  await lock.waitForQueries(1);
  // The next one starts a second run, and what comes later shares a third.
  answers.push(...Array.from({ length: count - 1 }, () => call(shared)));
  await lock.waitForQueries(2);
  await until(async () => (await fixture.activeCalls()) === count);
  await lock.release();
  await Promise.all(answers);

  const spans = await spansOf(shared.traceId, count);
  const statements = spans.filter(({ name }) => name.startsWith("overview"));
  expect(spans.filter(({ kind }) => kind === SERVER)).toHaveLength(count);
  expect(new Set(statements.map(({ parentSpanId }) => parentSpanId)).size).toBeLessThan(count);
  expect(collector.spans().filter(({ traceId }) => traceId === dropped.traceId)).toEqual([]);
});

it("statements, waits and connections are measured by pool and by short name", async () => {
  const families = await metrics();
  const statements = families.get("db_client_operation_duration_seconds")?.samples ?? [];
  const names = new Set(statements.map(({ labels }) => labels.operation));
  const ofRpcs = ["overview", "provider", "provider_revenue", "provider_revenue_raw", "providers"];
  expect([...names].sort()).toEqual(["api_keys", "facts", ...ofRpcs]);
  for (const pool of ["calls", "keys"]) {
    expect(sumOf(families, "db_client_connection_wait_time_seconds_count", { pool })).not.toBe(0);
    expect(sumOf(families, "db_client_connection_count", { pool })).toBeGreaterThan(0);
  }
  expect(sumOf(families, "db_client_connection_pending_requests")).toBe(0);
  expect(sumOf(families, "db_client_connection_max", { pool: "calls" })).toBe(10);
});

const { GetOverview: OVERVIEW, GetServerBreakdown: BREAKDOWN } = paths;

it.each<[where: string, target: (key: string) => string, headers: readonly string[]]>([
  ["in X-API-Key", () => OVERVIEW, ["x-api-key"]],
  ["in the query", (key) => `${OVERVIEW}?access_token=${key}`, []],
  ["as a date", (key) => `${BREAKDOWN}?startDate=${key}`, ["x-api-key"]],
  ["as an RPC's name", (key) => `/revenue.v1.RevenueService/${key}`, []],
  ["as the request's id", () => OVERVIEW, ["x-request-id"]],
  ["as the provider", () => OVERVIEW, ["x-api-key", "x-provider-id"]],
  ["as a header", () => "/nowhere", ["KEY"]],
])("a key that is sent %s is told nowhere", async (_, target, names) => {
  for (const key of [await fixture.issueKey("1"), await fixture.issueServiceKey("leaky")]) {
    const sent = names.map((name) => [name.replace("KEY", key.toLowerCase()), key] as const);
    const request = { target: target(key), headers: sent };
    const { headers, text } = await rawHttp(fixture.service.http, request);
    await fixture.service.logOf(`${headers["x-request-id"]}`);
    const told = [fixture.service.output(), text, headers["x-request-id"]].join();
    expect(`${told}${JSON.stringify(collector.spans())}`.includes(key.slice(8))).toBe(false);
  }
});

it(`random paths, methods, keys, addresses and providers add no series ${SEEDED}`, async () => {
  const keys = await Promise.all(["1", "2"].map((provider) => fixture.issueKey(provider)));
  const source = createRandom(SEED);
  const random = () => source.hex(16);
  const kinds: (() => readonly [method: string, target: string, key: string])[] = [
    ...["GET", "POST", "PURGE", "PROPFIND", "DELETE"].map(
      (method) => () => [method, `/${random()}/${random()}?${random()}=1`, random()] as const,
    ),
    () => ["GET", `${OVERVIEW}?${random()}=${random()}`, source.pick(keys)],
    () => ["GET", BREAKDOWN, generateKey()],
    () => ["GET", `${OVERVIEW}/${random()}`, source.pick(keys)],
    () => ["POST", `/revenue.v1.RevenueService/${random()}`, random()],
  ];
  const sendAll = (address: string) =>
    Promise.all(
      kinds.map((kind) => {
        const [method, target, key] = kind();
        const more = { "x-request-id": random(), "x-forwarded-for": address };
        const headers = [...withKey(key), ...Object.entries(more)];
        return rawHttp(fixture.service.http, { method, target, headers });
      }),
    );
  const series = async () =>
    [...(await metrics()).values()]
      .flatMap(({ samples }) => samples)
      .map(({ name, labels }) => name + JSON.stringify(labels))
      .filter((name) => !name.startsWith("nodejs_gc_"));
  await sendAll("10.0.0.1");
  await sendAll("10.0.0.2"); // a request that follows another of its kind
  const before = await series();
  // Each from an address of its own, so that no failed authentication is beyond the limit.
  for (let nth = 3; nth < 15; nth++) await sendAll(`10.0.0.${nth}`);
  expect((await series()).filter((name) => !before.includes(name))).toEqual([]);
});
