/** Traces, as a collector gets them. */
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { CLIENTS } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { poll, until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { startService } from "../../support/service/service-process.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import {
  type CollectedSpan,
  startTraceCollector,
  type TraceCollector,
} from "../../support/telemetry/trace-collector.ts";

const [INTERNAL, SERVER, CLIENT] = [1, 2, 3];
const [PARENT, UNSET, ERROR] = ["00f067aa0ba902b7", 0, 2];

let collector: TraceCollector;
let fixture: Fixture;
let traces = 0;

beforeAll(async () => {
  collector = await startTraceCollector();
  fixture = await createFixture(smallLedger, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    OTEL_SERVICE_NAME: "revenue-under-test",
    OTEL_BSP_SCHEDULE_DELAY: "50",
  });
});
afterAll(async () => {
  await fixture?.dispose();
  collector?.close();
});

const newTraceId = () => `${++traces}`.padStart(32, "a");

/** The headers of a call in a trace. `flags` 01: the caller records it. */
const inTrace = (traceId: string, flags = "01") =>
  [
    ...withKey(fixture.key),
    ["traceparent", `00-${traceId}-${PARENT}-${flags}`],
    ["x-request-id", `request-${traceId}`],
  ] as [string, string][];

/** Waits for the SERVER span of a trace, which is exported after those below it. */
function spansOf(traceId: string, calls = 1): Promise<readonly CollectedSpan[]> {
  return poll(() => {
    const spans = collector.spans().filter((span) => span.traceId === traceId);
    return spans.filter(({ kind }) => kind === SERVER).length >= calls ? spans : undefined;
  });
}

it.each(CLIENTS)(
  "%s: a call continues the trace of its caller, with its waits and statements below it, and is logged with its id",
  async (name) => {
    const traceId = newTraceId();
    const client = fixture.clients.get(name);
    await client.call({ method: "GetOverview", headers: inTrace(traceId) });
    const spans = await spansOf(traceId);

    const call = spans.find(({ kind }) => kind === SERVER);
    expect(call).toMatchObject({
      name: "revenue.v1.RevenueService/GetOverview",
      parentSpanId: PARENT,
      attributes: {
        "rpc.method": "revenue.v1.RevenueService/GetOverview",
        "rpc.response.status_code": "OK",
        "revenue.protocol": client.protocol,
        "revenue.request_id": `request-${traceId}`,
        "revenue.key.kind": "provider",
        "revenue.key.id": expect.stringMatching(/^\d+$/),
      },
      statusCode: UNSET,
      resource: {
        "service.name": "revenue-under-test",
        "deployment.environment.name": "test",
      },
    });
    const below = spans.filter((span) => span !== call);
    expect(below.every(({ parentSpanId }) => parentSpanId === call?.spanId)).toBe(true);
    const statements = below.filter(({ kind }) => kind === CLIENT).map((span) => span.name);
    expect(statements.filter((statement) => statement.startsWith("overview"))).toHaveLength(1);
    const waits = below.filter(({ kind }) => kind === INTERNAL);
    // The facts are asked for on the connection of the statement after them.
    expect(statements).toContain("facts");
    expect(waits).toHaveLength(statements.filter((statement) => statement !== "facts").length);
    const [line] = await fixture.service.logOf(`request-${traceId}`);
    expect(line).toMatchObject({ traceId, code: "OK" });
  },
);

it("the span of a call with a service key names the key, and never the key itself", async () => {
  const traceId = newTraceId();
  const key = await fixture.issueServiceKey("support");
  const others = inTrace(traceId).filter(([name]) => name !== "x-api-key");
  const headers = [...others, ...withKey(key), ["x-provider-id", "1"]] as [string, string][];
  await fixture.clients.get("gRPC, grpc-js").call({ method: "GetOverview", headers });
  const spans = await spansOf(traceId);
  expect(spans.find(({ kind }) => kind === SERVER)?.attributes).toMatchObject({
    "revenue.key.kind": "service",
    "revenue.key.id": expect.stringMatching(/^\d+$/),
    "revenue.key.name": "support",
  });
  expect(JSON.stringify(collector.spans())).not.toContain(key.slice(8));
});

it("a refused call is no error of the server, and names its reason; one that its caller does not record is not exported", async () => {
  const [dropped, traceId] = [newTraceId(), newTraceId()];
  await fixture.clients
    .get("REST")
    .call({ method: "GetOverview", headers: inTrace(dropped, "00") });
  const headers = inTrace(traceId).filter(([name]) => name !== "x-api-key");
  await fixture.clients.get("REST").call({ method: "GetOverview", headers });
  const [span] = await spansOf(traceId);
  expect(span?.attributes).toMatchObject({
    "rpc.response.status_code": "UNAUTHENTICATED",
    "error.type": "unauthenticated",
  });
  expect(span?.statusCode).not.toBe(ERROR);
  expect(collector.spans().filter((one) => one.traceId === dropped)).toEqual([]);
});

it("a coalesced call links to the call whose run answered it", async () => {
  const traceId = newTraceId();
  const client = fixture.clients.get("REST");
  const calls = 6;
  await using lock = await lockTable(fixture.database, "charges");
  const call = () => client.call({ method: "GetOverview", headers: inTrace(traceId) });
  const answers = [call()];
  await lock.waitForQueries(1);
  // The next one starts a second run, and what comes later shares a third.
  answers.push(...Array.from({ length: calls - 1 }, call));
  await lock.waitForQueries(2);
  await until(async () => (await fixture.activeCalls()) === calls);
  await lock.release();
  await Promise.all(answers);

  const spans = await spansOf(traceId, calls);
  const servers = spans.filter(({ kind }) => kind === SERVER);
  const statements = spans.filter(({ name }) => name.startsWith("overview"));
  const links = servers.flatMap((span) => span.links);
  expect(links.length).toBe(calls - statements.length);
  expect(links.length).toBeGreaterThan(0);
  const answering = new Set(statements.map(({ parentSpanId }) => parentSpanId));
  for (const { spanId } of links) expect(answering).toContain(spanId);
});

it("without its collector the service answers, warns once, and stops with 0", async () => {
  const service = await startService(fixture.database.url, {
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
    OTEL_BSP_SCHEDULE_DELAY: "20",
    OTEL_EXPORTER_OTLP_TIMEOUT: "200",
    ADMIN_PORT: "off",
  });
  onTestFinished(() => void service.kill());
  const warnings = () => service.log().filter(({ msg }) => msg === "cannot export spans");
  await until(async () => {
    const headers = withKey(fixture.key);
    const { status } = await rawHttp(service.http, { target: paths.GetOverview, headers });
    expect(status).toBe(200);
    return warnings().length > 0;
  });
  expect(warnings()).toMatchObject([
    { endpoint: "http://127.0.0.1:1/v1/traces", cause: expect.stringContaining("ECONNREFUSED") },
  ]);
  expect(await service.stop()).toBe(0);
});
