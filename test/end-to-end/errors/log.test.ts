/** The log: one line of JSON per call with the documented fields, and never a key. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import type { RpcRequest } from "../../support/clients/client.ts";
import { QUICK_CLIENTS } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

const EVERY = {
  level: "info",
  time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  requestId: expect.any(String),
  ms: expect.any(Number),
};
const REFUSED = { ...EVERY, msg: "call refused" };

describe.each(QUICK_CLIENTS)("through %s", (name) => {
  async function lineOf(question: RpcRequest): Promise<unknown> {
    const door = fixture.clients.named(name);
    const id = randomUUID();
    const headers = [...(question.headers ?? []), ["x-request-id", id] as const];
    await door.call({ ...question, headers });
    const lines = await fixture.service.logOf(id);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ protocol: door.protocol, requestId: id });
    const { door: _, ...line } = lines[0] ?? {};
    return line;
  }

  it("a call that is answered", async () => {
    expect(await lineOf({ method: "GetOverview", headers: withKey(fixture.key) })).toEqual({
      ...EVERY,
      method: "GetOverview",
      providerId: "1",
      code: "OK",
      msg: "call",
    });
  });

  it("a call that cannot be right", async () => {
    const message = { endDate: "x" };
    const headers = withKey(fixture.key);
    expect(await lineOf({ method: "GetServerBreakdown", message, headers })).toEqual({
      ...REFUSED,
      method: "GetServerBreakdown",
      providerId: "1",
      code: "INVALID_ARGUMENT",
      reason: "invalidArgument",
    });
  });

  it("a call without a valid key", async () => {
    expect(await lineOf({ method: "GetOverview", headers: withKey(generateKey()) })).toEqual({
      ...REFUSED,
      method: "GetOverview",
      code: "UNAUTHENTICATED",
      reason: "unauthenticated",
    });
  });
});

it("a request that is no call has a line too", async () => {
  const headers = [["x-request-id", "lost"]] as const;
  await rawHttp(fixture.service.http, { target: "/nowhere", headers });
  expect(await fixture.service.logOf("lost")).toHaveLength(1);
});

describe("a key is never in it", () => {
  it.each<[string, (key: string) => { target: string; headers?: [string, string][] }]>([
    [
      "in its header",
      (key) => ({ target: "/api/provider/revenue", headers: [["x-api-key", key]] }),
    ],
    ["in the other header", (key) => ({ target: "/x", headers: [["authorization", key]] })],
    ["in the query", (key) => ({ target: `/api/provider/revenue?key=${key}` })],
    ["in the path", (key) => ({ target: `/api/provider/revenue/${key}` })],
    ["as a method's name", (key) => ({ target: `/revenue.v1.RevenueService/${key}` })],
    [
      "as the request's id",
      (key) => ({ target: "/api/provider/revenue", headers: [["x-request-id", key]] }),
    ],
    ["in a header of its own", (key) => ({ target: "/", headers: [[key.toLowerCase(), key]] })],
  ])("%s", async (_, request) => {
    const key = await fixture.issue("1");
    const { headers } = await rawHttp(fixture.service.http, request(key));
    await fixture.service.logOf(`${headers["x-request-id"]}`);
    expect(fixture.service.output().includes(key.slice(8))).toBe(false);
  });

  it("with a date that is a key", async () => {
    const key = await fixture.issue("1");
    const message = { startDate: key };
    const headers = [...withKey(key), ["x-request-id", "dated"] as const];
    await fixture.clients.named("REST").call({ method: "GetServerBreakdown", message, headers });
    await fixture.service.logOf("dated");
    expect(fixture.service.output().includes(key.slice(8))).toBe(false);
  });
});
