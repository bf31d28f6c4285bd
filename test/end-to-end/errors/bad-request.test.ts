/**
 * Malformed dates in every protocol; malformed query parameters, unknown paths and other methods in
 * REST. The parsers' tables of inputs are in test/unit/revenue/period.test.ts and
 * test/unit/transcoding.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withoutHeaders } from "../../support/clients/client.ts";
import { FAST_CLIENTS } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { badRequest, errorThrough } from "../../support/expected-error.ts";
import { paths, type RpcRequest, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

type Period = NonNullable<RpcRequest["message"]>;

const DATE = "expected an ISO 8601 date or date-time such as 2026-11-20 or 2026-11-20T09:30:00Z";

const PERIODS: readonly (readonly [name: string, period: Period, message: string])[] = [
  [
    "a start that is not a date",
    { startDate: "2026-11-20\n" },
    `startDate: ${DATE}, got "2026-11-20\\u{a}"`,
  ],
  [
    "a start with characters that are not seen",
    { startDate: "2026\u202e-11\u200b-20\u00a0\u001b[31m" },
    `startDate: ${DATE}, got "2026\\u{202e}-11\\u{200b}-20\\u{a0}\\u{1b}[31m"`,
  ],
  [
    "an end that is not a day of the calendar",
    { endDate: "2026-02-29" },
    `endDate: ${DATE}, got "2026-02-29" (2026-02-29 is not a day of the calendar)`,
  ],
  [
    "a start after the end",
    { startDate: "2026-11-20T00:00:00Z", endDate: "2026-11-20T01:59:59.999+02:00" },
    "startDate: expected an instant at or before endDate (2026-11-19T23:59:59.999Z), got 2026-11-20T00:00:00.000Z",
  ],
];

describe.each(FAST_CLIENTS)("through %s", (name) => {
  const call = (method: RpcRequest["method"], message: Period) =>
    fixture.clients.get(name).call({ method, message, headers: withKey(fixture.key) });
  const refusal = (message: string) => errorThrough(fixture.clients.get(name), badRequest(message));

  it.each(PERIODS)("%s is an invalid argument", async (_, period, message) => {
    for (const method of ["GetServerBreakdown", "ListDailyRevenue"] as const) {
      expect(withoutHeaders(await call(method, period))).toEqual(refusal(message));
    }
  });

  it("more than 400 days are an invalid argument", async () => {
    const period = { startDate: "2025-01-01", endDate: "2026-02-05" };
    const outcome = await call("ListDailyRevenue", period);
    expect(withoutHeaders(outcome)).toEqual(
      refusal(
        "startDate: expected a period of at most 400 days, got 401 (from 2025-01-01T00:00:00.000Z to 2026-02-05T23:59:59.999Z)",
      ),
    );
    const whole = { ...period, startDate: "2025-01-02" };
    expect(await call("ListDailyRevenue", whole)).toHaveProperty("response");
  });
});

const BREAKDOWN = paths.GetServerBreakdown;
const NOT_FOUND = '{"error":"Not Found","message":"no resource at this path"}';
const NOT_UTF8 =
  '{"error":"Bad Request","message":"the path is not percent-encoded UTF-8 (RFC 3986)"}';

const badQuery = (query: string, message: string): [string, number, string] => [
  `${BREAKDOWN}?${query}`,
  400,
  badRequest(message).body,
];

it.each([
  badQuery("limit=5", 'unknown query parameter "limit"; allowed parameters: startDate, endDate'),
  badQuery(
    "startDate=2026-01-01&startDate=2026-01-01",
    'query parameter "startDate" is repeated; it must be given once',
  ),
  badQuery(
    "startDate=%ff",
    'query parameter "startDate": expected percent-encoded UTF-8 (RFC 3986), got "%ff"',
  ),
  [`${BREAKDOWN}/`, 404, NOT_FOUND],
  ["/API/provider/revenue", 404, NOT_FOUND],
  ["/revenue.v1.RevenueService/GetNothing", 404, NOT_FOUND],
  ["/grpc.health.v1.Health/Check", 404, NOT_FOUND],
  ["/api/provider/%ff", 400, NOT_UTF8],
])("GET %s is %i", async (target, status, text) => {
  const headers = withKey(fixture.key);
  const response = await rawHttp(fixture.service.http, { target, headers });
  expect({ status: response.status, text: response.text }).toEqual({ status, text });
});

it.each([
  ["/api/provider/revenue?startDate=x", ["POST", "PUT", "OPTIONS", "TRACE"], "GET, HEAD"],
  ["/revenue.v1.RevenueService/GetOverview", ["HEAD", "DELETE", "PROPFIND"], "GET, POST"],
])("%s does not allow %j", async (target, methods, allow) => {
  for (const method of methods) {
    const request = { method, target, headers: withKey(fixture.key) };
    const { status, headers, text } = await rawHttp(fixture.service.http, request);
    const body = `{"error":"Method Not Allowed","message":"allowed methods: ${allow}"}`;
    expect({ method, status, allow: headers.allow, text }).toEqual({
      ...{ method, status: 405, allow },
      text: method === "HEAD" ? "" : body,
    });
  }
});
