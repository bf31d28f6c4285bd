/** Queries that REST cannot bind: unknown, repeated and damaged parameters, each told in full. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { badRequest } from "../../support/refusal.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

const OVERVIEW = "/api/provider/revenue";
const BREAKDOWN = "/api/provider/revenue/servers";
const TAKES = "this path takes startDate and endDate";

it.each([
  [`${BREAKDOWN}?limit=5`, `unknown query parameter "limit"; ${TAKES}`],
  [`${BREAKDOWN}?limit`, `unknown query parameter "limit"; ${TAKES}`],
  [`${BREAKDOWN}?startdate=2026-01-01`, `unknown query parameter "startdate"; ${TAKES}`],
  [`${BREAKDOWN}?StartDate=2026-01-01`, `unknown query parameter "StartDate"; ${TAKES}`],
  [`${BREAKDOWN}?start_date=2026-01-01`, `unknown query parameter "start_date"; ${TAKES}`],
  [`${BREAKDOWN}?startDate%20=2026-01-01`, `unknown query parameter "startDate "; ${TAKES}`],
  [`${BREAKDOWN}?startDate[]=2026-01-01`, `unknown query parameter "startDate[]"; ${TAKES}`],
  [`${BREAKDOWN}?=2026-01-01`, `unknown query parameter ""; ${TAKES}`],
  [`${BREAKDOWN}?__proto__=1`, `unknown query parameter "__proto__"; ${TAKES}`],
  [`${BREAKDOWN}?constructor=1`, `unknown query parameter "constructor"; ${TAKES}`],
  [`${BREAKDOWN}?a%00b=1`, `unknown query parameter "a\\u{0}b"; ${TAKES}`],
  [`${BREAKDOWN}?startDate=2026-01-01&_=1`, `unknown query parameter "_"; ${TAKES}`],
  [
    `${BREAKDOWN}?startDate=2026-01-01&startDate=2026-01-01`,
    'query parameter "startDate" comes twice; send it once',
  ],
  [
    `${BREAKDOWN}?endDate=&startDate=2026-01-01&endDate=`,
    'query parameter "endDate" comes twice; send it once',
  ],
  [
    `${BREAKDOWN}?startDate=%zz`,
    'query parameter "startDate": "%zz" is not percent-encoded UTF-8 (RFC 3986)',
  ],
  [
    `${BREAKDOWN}?startDate=2026-01-0%`,
    'query parameter "startDate": "2026-01-0%" is not percent-encoded UTF-8 (RFC 3986)',
  ],
  [
    `${BREAKDOWN}?startDate=%ff`,
    'query parameter "startDate": "%ff" is not percent-encoded UTF-8 (RFC 3986)',
  ],
  [`${BREAKDOWN}?%c3=1`, 'query parameter "%c3": "%c3" is not percent-encoded UTF-8 (RFC 3986)'],
  [`${OVERVIEW}?startDate=2026-01-01`, 'unknown query parameter "startDate"; this path takes none'],
  [`${OVERVIEW}?x`, 'unknown query parameter "x"; this path takes none'],
])("%s is refused", async (target, told) => {
  const headers = withKey(fixture.key);
  const { status, text } = await rawHttp(fixture.service.http, { target, headers });
  const { status: expected, body } = badRequest(told);
  expect({ status, text }).toEqual({ status: expected, text: body });
});

it.each([OVERVIEW, BREAKDOWN])("%s takes an empty query", async (path) => {
  for (const query of ["?", "?&", "?&&"]) {
    const { status } = await rawHttp(fixture.service.http, {
      target: path + query,
      headers: withKey(fixture.key),
    });
    expect({ query, status }).toEqual({ query, status: 200 });
  }
});
