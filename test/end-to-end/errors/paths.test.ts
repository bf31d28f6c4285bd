/** Unknown paths are 404, and other methods than a path allows are 405. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

const NOT_FOUND = '{"error":"Not Found","message":"no resource at this path"}';

describe.each(["GET", "POST"])("%s", (method) => {
  it.each([
    "/api",
    "/api/provider",
    "/api/provider/",
    "/api/provider/revenue/",
    "/api/provider/revenue/servers/",
    "/api/provider/revenue/servers/1",
    "/api/provider/revenue/Servers",
    "/API/provider/revenue",
    "/api/provider/Revenue",
    "//api/provider/revenue",
    "/api//provider/revenue",
    "/api/provider/./revenue",
    "/api/provider/x/../revenue",
    "/api/provider/revenue%2Fservers",
    "/api/provider/revenue;v=1",
    "/api/provider/revenue.json",
    "/v1/api/provider/revenue",
    "/revenue.v1.RevenueService",
    "/revenue.v1.RevenueService/",
    "/revenue.v1.RevenueService/GetNothing",
    "/revenue.v1.RevenueService/getOverview",
    "/revenue.v1.RevenueService/GetOverview/",
    "/revenue.v1.revenueservice/GetOverview",
    "/grpc.health.v1.Health/Check",
    "/favicon.ico",
  ])("%s is not found, with a key or without", async (target) => {
    for (const headers of [[], withKey(fixture.key)]) {
      const response = await rawHttp(fixture.service.http, { method, target, headers });
      expect({ status: response.status, text: response.text }).toEqual({
        status: 404,
        text: NOT_FOUND,
      });
    }
  });
});

const REST = ["GET", "HEAD"];
const CONNECT = ["GET", "POST"];

describe.each([
  ["/api/provider/revenue", REST],
  ["/api/provider/revenue?startDate=x", REST],
  ["/api/provider/revenue/servers", REST],
  ["/revenue.v1.RevenueService/GetOverview", CONNECT],
  ["/revenue.v1.RevenueService/GetServerBreakdown", CONNECT],
])("%s", (target, allowed) => {
  const methods = ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"];
  it.each(methods.filter((method) => !allowed.includes(method)))(
    "does not allow %s",
    async (method) => {
      const request = { method, target, headers: withKey(fixture.key) };
      const { status, headers, text } = await rawHttp(fixture.service.http, request);
      const allow = headers.allow ?? "";
      expect(allow.split(", ").sort()).toEqual(allowed);
      expect({ status, text }).toEqual({
        status: 405,
        text: `{"error":"Method Not Allowed","message":"allowed methods: ${allow}"}`,
      });
    },
  );
});

it("a path with malformed percent-encoding is a bad request", async () => {
  for (const target of ["/%", "/api/provider/%ff", "/%zz/revenue"]) {
    const { status, text } = await rawHttp(fixture.service.http, { target });
    expect({ status, text }).toEqual({
      status: 400,
      text: '{"error":"Bad Request","message":"the path is not percent-encoded UTF-8 (RFC 3986)"}',
    });
  }
});
