/**
 * The log: one line of JSON per call with the documented fields and the id of its request, and never
 * a key. The fields of each error are in test/unit/telemetry/call-log.test.ts, and the lines of requests
 * that are no calls in test/unit/gateway and test/unit/grpc.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { FAST_CLIENTS } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { paths, type RpcRequest, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
let serviceKey: string;
beforeAll(async () => {
  fixture = await createFixture(smallLedger, { SERVICE_KEYS: "all" });
  serviceKey = await fixture.issueServiceKey("support");
});
afterAll(() => fixture?.dispose());

const COMMON_FIELDS = {
  level: "info",
  time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  ms: expect.any(Number),
};
const REFUSED = { ...COMMON_FIELDS, msg: "call refused" };

describe.each(FAST_CLIENTS)("through %s", (name) => {
  /** Makes a call with an id, which is in the response and in one line of the log, and returns that. */
  async function logLineOf(request: RpcRequest): Promise<unknown> {
    const client = fixture.clients.get(name);
    const id = `Root=1-67891233:${randomUUID()}`;
    const headers = [...(request.headers ?? []), ["x-request-id", id] as const];
    const outcome = await client.call({ ...request, headers });
    expect(outcome.headers["x-request-id"]).toBe(id);
    const lines = await fixture.service.logOf(id);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ protocol: client.protocol, requestId: id });
    const { protocol: _, requestId: __, ...line } = lines[0] ?? {};
    return line;
  }

  it("each call has a line with its provider, its code and the reason", async () => {
    expect(await logLineOf({ method: "GetOverview", headers: withKey(fixture.key) })).toEqual({
      ...COMMON_FIELDS,
      method: "GetOverview",
      key: { id: expect.stringMatching(/^\d+$/), kind: "provider" },
      providerId: "1",
      code: "OK",
      msg: "call",
    });
    const message = { endDate: "x", timeZone: "Asia/Kolkata" };
    const headers = withKey(fixture.key);
    expect(await logLineOf({ method: "GetServerBreakdown", message, headers })).toEqual({
      ...REFUSED,
      method: "GetServerBreakdown",
      key: { id: expect.stringMatching(/^\d+$/), kind: "provider" },
      providerId: "1",
      asked: message,
      code: "INVALID_ARGUMENT",
      reason: "invalidArgument",
      field: "endDate",
    });
    expect(await logLineOf({ method: "GetOverview", headers: withKey(generateKey()) })).toEqual({
      ...REFUSED,
      method: "GetOverview",
      code: "UNAUTHENTICATED",
      reason: "unauthenticated",
    });
  });

  it("what was asked is told in a short and harmless text, whatever it is", async () => {
    const message = { startDate: `2026-11-01"\u001b[31m\n{"level":"fatal"}${"x".repeat(1_000)}` };
    const headers = withKey(fixture.key);
    expect(await logLineOf({ method: "GetServerBreakdown", message, headers })).toMatchObject({
      asked: { startDate: `2026-11-01"\\u{1b}[31m\\u{a}{"level":"fatal"}${"x".repeat(14)}…` },
      reason: "invalidArgument",
      field: "startDate",
    });
  });

  it("the line of a call with a service key names the key and the provider that was asked about", async () => {
    const key = { id: expect.stringMatching(/^\d+$/), kind: "service", name: "support" };
    const about = (id: string) => ({
      method: "GetOverview" as const,
      headers: [...withKey(serviceKey), ["x-provider-id", id]] as const,
    });
    const fields = { ...COMMON_FIELDS, method: "GetOverview", key };
    expect(await logLineOf(about("1"))).toEqual({
      ...fields,
      providerId: "1",
      code: "OK",
      msg: "call",
    });
    const refused = { ...fields, ...REFUSED };
    expect(await logLineOf(about("99"))).toEqual({
      ...refused,
      code: "NOT_FOUND",
      reason: "providerNotFound",
    });
    expect(await logLineOf(about("x"))).toEqual({
      ...refused,
      code: "INVALID_ARGUMENT",
      reason: "invalidArgument",
    });
  });
});

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
