/** Cross-origin requests, as browsers send them. */
import { expect, it } from "vitest";
import { RevenueService } from "../../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError } from "../../../../src/errors.ts";
import { PATH as CONNECT_PATH, handleOverview, listen } from "../gateway.ts";

const APP = "https://app.example.com";
const REST_PATH = "/api/provider/revenue";

const serve = (corsOrigins: readonly string[]) =>
  listen(RevenueService, handleOverview, () => {}, { corsOrigins });

const preflight = (headers: Record<string, string> = {}) => ({
  method: "OPTIONS",
  headers: { origin: APP, "access-control-request-method": "GET", ...headers },
});

it.each([REST_PATH, CONNECT_PATH])("a preflight request for %s needs no key", async (path) => {
  const { url, calls } = await serve(["http://localhost:5173", APP]);
  const response = await fetch(url + path, preflight());
  expect(response.status).toBe(204);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "access-control-allow-origin": APP,
    "access-control-allow-methods": "GET, HEAD, POST",
    "access-control-max-age": "7200",
    vary: "Origin",
  });
  const allowed = response.headers.get("access-control-allow-headers")?.toLowerCase().split(", ");
  const needed = ["authorization", "x-api-key", "connect-protocol-version", "x-grpc-web"];
  expect(allowed).toEqual(expect.arrayContaining(needed));
  // A page has no service key, and must not make a browser send what goes with one.
  for (const name of ["x-provider-id", "*"]) expect(allowed).not.toContain(name);
  expect(calls).toEqual([]);
});

it.each([
  [REST_PATH, 200, "Origin, accept, accept-encoding"],
  [`${CONNECT_PATH}?encoding=json&message={}`, 200, "Origin"],
  [`${REST_PATH}?refused`, 401, "Origin"],
])("the answer to %s can be read by an allowed origin: %i", async (path, status, vary) => {
  const refuse = () => {
    if (path.endsWith("refused")) throw new ServiceError("unauthenticated");
  };
  const { url } = await listen(RevenueService, handleOverview, refuse, { corsOrigins: [APP] });
  const response = await fetch(url + path, { headers: { origin: APP } });
  expect(response.status).toBe(status);
  const headers = Object.fromEntries(response.headers);
  expect(headers).toMatchObject({ "access-control-allow-origin": APP, vary });
  expect(headers["access-control-expose-headers"]).toMatch(/data-as-of.*error-reason.*retry-after/);
});

it("an origin that is not listed may read no answer, * allows every origin, and none is allowed by default", async () => {
  const allowed = async (corsOrigins: readonly string[], request: RequestInit) => {
    const { status, headers } = await fetch((await serve(corsOrigins)).url + REST_PATH, request);
    return [status, headers.get("access-control-allow-origin")];
  };
  const origin = "https://other.example";
  expect(await allowed([APP], { headers: { origin } })).toEqual([200, null]);
  expect((await allowed([APP], preflight({ origin })))[1]).toBeNull();
  expect(await allowed(["*"], { headers: { origin } })).toEqual([200, "*"]);
  expect(await allowed([], preflight())).toEqual([405, null]);
});
