/**
 * No response of the service contradicts its OpenAPI document: random requests that the document
 * allows are answered, and those that it forbids are refused, each with a documented response.
 */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seed } from "../../../dev/demo-data/seed.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { SOAK } from "../../support/soak.ts";
import { type RandomRequest, randomRequests } from "./requests.ts";
import { type Contradictions, compileDocument, type Document } from "./validator.ts";

const SEED = Number(process.env.SEED ?? (SOAK === 1 ? 1 : Date.now() % 2 ** 32));
const RUNS = 200 * SOAK;

let fixture: Fixture;
let document: Document;
let contradictions: Contradictions;
beforeAll(async () => {
  // The rate limit is never reached: it is there for its headers.
  const limit = { RATE_LIMIT: "100000", TRUSTED_PROXIES: "127.0.0.1" };
  fixture = await createFixture(({ knex }) => seed(knex, Date.now(), () => {}), limit);
  document = JSON.parse((await rawHttp(fixture.service.http, { target: "/openapi.json" })).text);
  contradictions = compileDocument(document);
});
afterAll(() => fixture?.dispose());

/** A period that no schema can refuse: its message says what the description says. */
const BAD_PERIOD = /the year must be|at or before endDate|required because/;

let addresses = 0;

/** What in the response to a request contradicts the document. */
async function contradictionsOf(request: RandomRequest): Promise<string[]> {
  const { broken, headers, method } = request;
  // Each from an address of its own, so that no failed authentication is beyond the limit.
  const address = `10.${[16, 8, 0].map((bits) => (addresses >> bits) & 255).join(".")}`;
  addresses++;
  const response = await rawHttp(fixture.service.http, {
    ...request,
    headers: [...headers, ["x-forwarded-for", address]],
  });
  const { status, text } = response;
  const found = contradictions(request, response);
  if (broken.length > 0) {
    if (!broken.includes(status)) found.push(`${status}, but the request breaks ${broken}`);
    return found;
  }
  const isTagged = headers.some(([name]) => name === "if-none-match");
  const isBadPeriod = status === 400 && (method === "HEAD" || BAD_PERIOD.test(text));
  const isAnswer = status === 200 || (status === 304 && isTagged);
  if (!isAnswer && !isBadPeriod) found.push(`${status}, but the request is allowed: ${text}`);
  return found;
}

it("the document is served as it was generated", async () => {
  const { status, text } = await rawHttp(fixture.service.http, { target: "/openapi.json" });
  expect(status).toBe(200);
  expect(text).toBe(readFileSync("gen/openapi.json", "utf8"));
});

it(`no response contradicts the document (SEED=${SEED})`, async () => {
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(randomRequests(document, fixture.key), async (request) => {
      const before = [...request.broken].sort()[0] ?? 200;
      statuses.set(before, (statuses.get(before) ?? 0) + 1);
      expect(await contradictionsOf(request)).toEqual([]);
    }),
    { seed: SEED, numRuns: RUNS },
  );
  // Each rule is broken by some requests, and most break none.
  expect([...statuses.keys()].sort()).toEqual([200, 400, 401, 404, 405, 406, 413, 417, 431]);
  expect(statuses.get(200)).toBeGreaterThan(RUNS / 5);
});

it("the same figures are a 304 as documented", async () => {
  const target = "/api/provider/revenue/servers?startDate=2026-01-01&endDate=2026-01-31";
  const get = (more: readonly (readonly [string, string])[]) =>
    rawHttp(fixture.service.http, { target, headers: [...withKey(fixture.key), ...more] });
  const { headers } = await get([]);
  const response = await get([["if-none-match", `${headers.etag}`]]);
  expect(response.status).toBe(304);
  const request = { method: "GET", path: "/api/provider/revenue/servers" };
  expect(contradictions(request, response)).toEqual([]);
});

it("a response that is not as documented is noticed", () => {
  const request = { method: "GET", path: "/api/provider/revenue" };
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": "r",
  };
  const respond = (status: number, body: object, more = {}) => {
    const text = JSON.stringify(body);
    const response = { status, headers: { ...headers, ...more }, text, bytes: Buffer.from(text) };
    return contradictions(request, response).join();
  };
  const error = { error: "Bad Request", message: "m" };
  expect(respond(400, error)).toBe("");
  expect(respond(418, error)).toBe("418 is not documented");
  expect(respond(400, { error: "" })).toMatch(/must have required property 'message'/);
  expect(respond(400, { ...error, more: 1 })).toMatch(/additional properties/);
  expect(respond(400, error, { etag: "x" })).toBe("etag is not documented");
  expect(respond(401, error)).toBe("there is no www-authenticate");
});
