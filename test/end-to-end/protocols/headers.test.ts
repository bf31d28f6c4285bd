/** The headers of REST's answers, whatever the status; and HEAD, which is GET without its body. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RawAnswer, rawHttp } from "../../support/clients/raw-http.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const EVERY = {
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
  /** Headers of this answer alone. */
  readonly own?: Readonly<Record<string, string>>;
}

const CASES: readonly Case[] = [
  { target: "/api/provider/revenue", status: 200 },
  { target: "/api/provider/revenue/servers", status: 200 },
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

it.each(CASES)("$status has the headers of every answer, and its own alone", async (one) => {
  const { target, method = "GET", status, own } = one;
  const answer = await rawHttp(fixture.service.http, { target, method, headers: headersOf(one) });
  const { connection: _, "keep-alive": __, ...headers } = answer.headers;
  expect({ status: answer.status, ...headers }).toEqual({ status, ...EVERY, ...own });
  expect(Number(answer.headers["content-length"])).toBe(answer.bytes.length);
});

const READ = CASES.filter(({ method }) => method === undefined);

it.each(READ)("$status is the same by HEAD, but for the body", async (one) => {
  const request = { target: one.target, headers: headersOf(one) };
  const get = await rawHttp(fixture.service.http, request);
  const head = await rawHttp(fixture.service.http, { ...request, method: "HEAD" });
  const changing = { date: "", "x-request-id": "", "content-length": "" };
  const told = ({ status, headers }: RawAnswer) => ({ status, ...headers, ...changing });
  expect(told(head)).toEqual(told(get));
  expect(head.text).toBe("");
  expect(Number(head.headers["content-length"])).toBeGreaterThan(0);
});
