/**
 * The log: one line of JSON per call with the documented fields and the id of its request, and never
 * a key. The fields of each error are in test/unit/telemetry/call-log.test.ts, and the lines of requests
 * that are no calls in test/unit/gateway and test/unit/grpc.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { CLIENTS } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { paths, type RequestHeaders, type RpcRequest, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
let serviceKey: string;
beforeAll(async () => {
  fixture = await createFixture(smallLedger, { SERVICE_KEYS: "all" });
  serviceKey = await fixture.issueServiceKey("support");
});
afterAll(() => fixture?.dispose());

const ID = expect.stringMatching(/^\d+$/);
const OK = { providerId: "1", code: "OK", level: "info", msg: "call" };
const REFUSED = { level: "info", msg: "call refused" };
const INVALID = { ...REFUSED, code: "INVALID_ARGUMENT", reason: "invalidArgument" };
/** A date that would write lines and colours of its own. */
const HARMFUL = `2026-11-01"\u001b[31m\n{"level":"fatal"}${"x".repeat(1_000)}`;

/** Calls and what their lines have besides what all have. */
function calls(): readonly [RpcRequest["method"], RequestHeaders, RpcRequest["message"], object][] {
  const own = { key: { id: ID, kind: "provider" }, providerId: "1" };
  const service = { key: { id: ID, kind: "service", name: "support" } };
  const about = (id: string) => [...withKey(serviceKey), ["x-provider-id", id] as const];
  const asked = { endDate: "x", timeZone: "Asia/Kolkata" };
  const shown = { startDate: `2026-11-01"\\u{1b}[31m\\u{a}{"level":"fatal"}${"x".repeat(14)}…` };
  const unknown = { ...REFUSED, code: "UNAUTHENTICATED", reason: "unauthenticated" };
  const notFound = { ...REFUSED, code: "NOT_FOUND", reason: "providerNotFound" };
  const harmful = { startDate: HARMFUL };
  return [
    ["GetOverview", withKey(fixture.key), {}, { ...own, ...OK }],
    [
      "GetServerBreakdown",
      withKey(fixture.key),
      asked,
      { ...own, ...INVALID, asked, field: "endDate" },
    ],
    [
      "GetServerBreakdown",
      withKey(fixture.key),
      harmful,
      { ...own, ...INVALID, asked: shown, field: "startDate" },
    ],
    ["GetOverview", withKey(generateKey()), {}, unknown],
    ["GetOverview", about("1"), {}, { ...service, ...OK }],
    [
      "ListProviderRevenue",
      withKey(serviceKey),
      {},
      { ...service, level: "info", code: "OK", msg: "call" },
    ],
    ["GetOverview", about("99"), {}, { ...service, ...notFound }],
    ["GetOverview", about("x"), {}, { ...service, ...INVALID }],
  ];
}

it.each(CLIENTS)(
  "through %s, each call has a line with its key, provider, code and reason",
  async (name) => {
    const client = fixture.clients.get(name);
    for (const [method, headers, message = {}, fields] of calls()) {
      const requestId = `Root=1-67891233:${randomUUID()}`;
      const sent = [...headers, ["x-request-id", requestId] as const];
      const outcome = await client.call({ method, message, headers: sent });
      expect(outcome.headers["x-request-id"]).toBe(requestId);
      const common = {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        ms: expect.any(Number),
        protocol: client.protocol,
        ...{ requestId, method },
      };
      expect(await fixture.service.logOf(requestId)).toEqual([{ ...common, ...fields }]);
    }
  },
);

const OVERVIEW = paths.GetOverview;

it.each<[string, (key: string) => { target: string; headers?: [string, string][] }]>([
  ["in X-API-Key", (key) => ({ target: OVERVIEW, headers: [["x-api-key", key]] })],
  ["in the query", (key) => ({ target: `${OVERVIEW}?access_token=${key}` })],
  [
    "as a date",
    (key) => ({
      target: `${paths.GetServerBreakdown}?startDate=${key}`,
      headers: [["x-api-key", key]],
    }),
  ],
  ["as an RPC's name", (key) => ({ target: `/revenue.v1.RevenueService/${key}` })],
  ["as the request's id", (key) => ({ target: OVERVIEW, headers: [["x-request-id", key]] })],
  [
    "as the provider",
    (key) => ({
      target: OVERVIEW,
      headers: [
        ["x-api-key", key],
        ["x-provider-id", key],
      ],
    }),
  ],
  ["as a header", (key) => ({ target: "/nowhere", headers: [[key.toLowerCase(), key]] })],
])("a key that is sent %s is not logged", async (_, request) => {
  for (const key of [await fixture.issueKey("1"), await fixture.issueServiceKey("leaky")]) {
    const { headers, text } = await rawHttp(fixture.service.http, request(key));
    await fixture.service.logOf(`${headers["x-request-id"]}`);
    expect(fixture.service.output().includes(key.slice(8))).toBe(false);
    expect(`${text} ${headers["x-request-id"]}`.includes(key.slice(8))).toBe(false);
  }
});
