/** The log: one line of JSON per call with the documented fields, and never a key. */
import { randomUUID } from "node:crypto";
import { Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { FAST_CLIENTS } from "../../support/clients/clients.ts";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { type RpcRequest, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

const COMMON_FIELDS = {
  level: "info",
  time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  requestId: expect.any(String),
  ms: expect.any(Number),
};
const REJECTED = { ...COMMON_FIELDS, msg: "call refused" };

describe.each(FAST_CLIENTS)("through %s", (name) => {
  /** Makes a call and returns its log line without the protocol, which is checked here. */
  async function logLineOf(request: RpcRequest): Promise<unknown> {
    const client = fixture.clients.get(name);
    const id = randomUUID();
    const headers = [...(request.headers ?? []), ["x-request-id", id] as const];
    await client.call({ ...request, headers });
    const lines = await fixture.service.logOf(id);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ protocol: client.protocol, requestId: id });
    const { protocol: _, ...line } = lines[0] ?? {};
    return line;
  }

  it("a successful call is logged with its provider", async () => {
    expect(await logLineOf({ method: "GetOverview", headers: withKey(fixture.key) })).toEqual({
      ...COMMON_FIELDS,
      method: "GetOverview",
      providerId: "1",
      code: "OK",
      msg: "call",
    });
  });

  it("a call with an invalid argument is logged with its provider and the reason", async () => {
    const message = { endDate: "x" };
    const headers = withKey(fixture.key);
    expect(await logLineOf({ method: "GetServerBreakdown", message, headers })).toEqual({
      ...REJECTED,
      method: "GetServerBreakdown",
      providerId: "1",
      code: "INVALID_ARGUMENT",
      reason: "invalidArgument",
    });
  });

  it("a call without a valid key is logged without a provider", async () => {
    expect(await logLineOf({ method: "GetOverview", headers: withKey(generateKey()) })).toEqual({
      ...REJECTED,
      method: "GetOverview",
      code: "UNAUTHENTICATED",
      reason: "unauthenticated",
    });
  });
});

it("a request for an unknown path is logged too", async () => {
  const headers = [["x-request-id", "unknown-path"]] as const;
  await rawHttp(fixture.service.http, { target: "/nowhere", headers });
  expect(await fixture.service.logOf("unknown-path")).toHaveLength(1);
});

it("a gRPC request that is no call is logged with the code that the client got", async () => {
  const client = grpcClient(fixture.service.grpc);
  const id = randomUUID();
  const metadata = new Metadata();
  metadata.set("x-request-id", id);
  const bytes = (value: Buffer) => value;
  const { promise, resolve } = Promise.withResolvers<ServiceError | null>();
  client.makeUnaryRequest("/no.such.Service/Method", bytes, bytes, Buffer.of(), metadata, resolve);
  expect((await promise)?.code).toBe(status.UNIMPLEMENTED);
  client.close();
  expect(await fixture.service.logOf(id)).toMatchObject([
    { protocol: "grpc", code: "UNIMPLEMENTED", msg: "request rejected" },
  ]);
});

describe("a key is never logged", () => {
  it.each<[string, (key: string) => { target: string; headers?: [string, string][] }]>([
    ["in X-API-Key", (key) => ({ target: "/api/provider/revenue", headers: [["x-api-key", key]] })],
    [
      "in Authorization, of an unknown path",
      (key) => ({ target: "/x", headers: [["authorization", key]] }),
    ],
    ["in the query", (key) => ({ target: `/api/provider/revenue?key=${key}` })],
    ["in the path", (key) => ({ target: `/api/provider/revenue/${key}` })],
    ["as an RPC's name", (key) => ({ target: `/revenue.v1.RevenueService/${key}` })],
    [
      "as the request id",
      (key) => ({ target: "/api/provider/revenue", headers: [["x-request-id", key]] }),
    ],
    [
      "as a header's name and value",
      (key) => ({ target: "/nowhere", headers: [[key.toLowerCase(), key]] }),
    ],
  ])("if it is sent %s", async (_, request) => {
    const key = await fixture.issueKey("1");
    const { headers } = await rawHttp(fixture.service.http, request(key));
    await fixture.service.logOf(`${headers["x-request-id"]}`);
    expect(fixture.service.output().includes(key.slice(8))).toBe(false);
  });

  it("if it is sent as a date", async () => {
    const key = await fixture.issueKey("1");
    const message = { startDate: key };
    const headers = [...withKey(key), ["x-request-id", "key-as-date"] as const];
    await fixture.clients.get("REST").call({ method: "GetServerBreakdown", message, headers });
    await fixture.service.logOf("key-as-date");
    expect(fixture.service.output().includes(key.slice(8))).toBe(false);
  });
});
