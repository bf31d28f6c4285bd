/** The log: one line of JSON per call with the documented fields, and never a key. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generateKey } from "../../src/access/key.ts";
import type { Question } from "../service/door.ts";
import { QUICK_DOORS } from "../service/doors.ts";
import { smallLedger } from "../service/ledger.ts";
import { withKey } from "../service/question.ts";
import { rawHttp } from "../service/raw-http.ts";
import { type Stage, setStage } from "../service/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage(smallLedger);
});
afterAll(() => stage?.strike());

const EVERY = {
  level: "info",
  time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  requestId: expect.any(String),
  ms: expect.any(Number),
};
const REFUSED = { ...EVERY, msg: "call refused" };

describe.each(QUICK_DOORS)("through %s", (name) => {
  async function lineOf(question: Question): Promise<unknown> {
    const door = stage.doors.named(name);
    const id = randomUUID();
    const headers = [...(question.headers ?? []), ["x-request-id", id] as const];
    await door.call({ ...question, headers });
    const lines = await stage.service.logOf(id);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ door: door.protocol, requestId: id });
    const { door: _, ...line } = lines[0] ?? {};
    return line;
  }

  it("a call that is answered", async () => {
    expect(await lineOf({ method: "GetOverview", headers: withKey(stage.key) })).toEqual({
      ...EVERY,
      method: "GetOverview",
      providerId: "1",
      code: "OK",
      msg: "call",
    });
  });

  it("a call that cannot be right", async () => {
    const message = { endDate: "x" };
    const headers = withKey(stage.key);
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
  await rawHttp(stage.service.http, { target: "/nowhere", headers });
  expect(await stage.service.logOf("lost")).toHaveLength(1);
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
    const key = await stage.issue("1");
    const { headers } = await rawHttp(stage.service.http, request(key));
    await stage.service.logOf(`${headers["x-request-id"]}`);
    expect(stage.service.output().includes(key.slice(8))).toBe(false);
  });

  it("with a date that is a key", async () => {
    const key = await stage.issue("1");
    const message = { startDate: key };
    const headers = [...withKey(key), ["x-request-id", "dated"] as const];
    await stage.doors.named("REST").call({ method: "GetServerBreakdown", message, headers });
    await stage.service.logOf("dated");
    expect(stage.service.output().includes(key.slice(8))).toBe(false);
  });
});
