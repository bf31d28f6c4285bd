/** The headers of REST's responses with each status, and HEAD. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RawResponse, rawHttp } from "../../support/clients/raw-http.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const COMMON_HEADERS = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-request-id": expect.stringMatching(UUID),
  "content-length": expect.stringMatching(/^\d+$/),
  date: expect.any(String),
};

interface Case {
  readonly target: string;
  readonly method?: string;
  readonly anonymous?: true;
  readonly status: number;
  /** Headers of this response only. */
  readonly own?: Readonly<Record<string, unknown>>;
}

/** What a response with figures has in addition. */
const FIGURES = {
  "cache-control": "private, no-cache",
  "data-as-of": expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  etag: expect.stringMatching(/^W\/"[\w-]{22}"$/),
  vary: "accept, accept-encoding",
};

const CASES: readonly Case[] = [
  { target: "/api/provider/revenue", status: 200, own: FIGURES },
  { target: "/api/provider/revenue/servers", status: 200, own: FIGURES },
  { target: "/api/provider/revenue/servers?startDate=x", status: 400 },
  {
    target: "/api/provider/revenue",
    anonymous: true,
    status: 401,
    own: { "www-authenticate": "Bearer" },
  },
  { target: "/api", status: 404 },
  { target: "/api/provider/revenue", method: "POST", status: 405, own: { allow: "GET, HEAD" } },
];

const headersOf = ({ anonymous }: Case) => (anonymous ? [] : withKey(fixture.key));

it.each(CASES)("a response with $status has the common headers and its own", async (example) => {
  const { target, method = "GET", status, own } = example;
  const response = await rawHttp(fixture.service.http, {
    target,
    method,
    headers: headersOf(example),
  });
  const { connection: _, "keep-alive": __, ...headers } = response.headers;
  expect({ status: response.status, ...headers }).toEqual({ status, ...COMMON_HEADERS, ...own });
  expect(Number(response.headers["content-length"])).toBe(response.bytes.length);
});

const WITH_GET = CASES.filter(({ method }) => method === undefined);

it.each(WITH_GET)("HEAD has the headers of GET and no body, with $status", async (example) => {
  const request = { target: example.target, headers: headersOf(example) };
  const get = await rawHttp(fixture.service.http, request);
  const head = await rawHttp(fixture.service.http, { ...request, method: "HEAD" });
  const variable = {
    date: "",
    "x-request-id": "",
    "content-length": "",
    "data-as-of": "",
    // The default end of a breakdown's period is the time of the request.
    etag: "",
  };
  const comparable = ({ status, headers }: RawResponse) => ({ status, ...headers, ...variable });
  expect(comparable(head)).toEqual(comparable(get));
  expect(head.text).toBe("");
  expect(Number(head.headers["content-length"])).toBeGreaterThan(0);
});
