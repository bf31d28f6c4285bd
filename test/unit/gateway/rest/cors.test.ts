/** Cross-origin requests, as browsers send them. */
import { expect, it } from "vitest";
import { RevenueService } from "../../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError } from "../../../../src/errors.ts";
import { listen } from "../gateway.ts";
import { PATH as CONNECT_PATH, handleOverview } from "../overview.ts";

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
  const headers = Object.fromEntries(response.headers);
  expect(headers).toMatchObject({
    "access-control-allow-origin": APP,
    "access-control-allow-methods": "GET, HEAD, POST",
    "access-control-max-age": "7200",
    vary: "Origin",
  });
  const allowed = headers["access-control-allow-headers"]?.toLowerCase().split(", ");
  expect(allowed).toEqual(
    expect.arrayContaining([
      "authorization",
      "x-api-key",
      "connect-protocol-version",
      "x-grpc-web",
      "baggage",
      "sentry-trace",
    ]),
  );
  // A page has no service key, and must not make a browser send what goes with one.
  expect(allowed).not.toContain("x-provider-id");
  expect(headers["access-control-allow-headers"]).not.toContain("*");
  expect(calls).toEqual([]);
});

it.each([
  [REST_PATH, 200, "Origin, accept, accept-encoding"],
  [`${CONNECT_PATH}?encoding=json&message={}`, 200, "Origin"],
  [`${REST_PATH}?refused`, 401, "Origin"],
  ["/nowhere", 404, "Origin"],
])("the answer to %s can be read by an allowed origin: %i", async (path, status, vary) => {
  const refuse = () => {
    if (path.endsWith("refused")) throw new ServiceError("unauthenticated");
  };
  const { url } = await listen(RevenueService, handleOverview, refuse, { corsOrigins: [APP] });
  const response = await fetch(url + path, { headers: { origin: APP } });
  expect(response.status).toBe(status);
  const headers = Object.fromEntries(response.headers);
  expect(headers).toMatchObject({ "access-control-allow-origin": APP, vary });
  expect(headers["access-control-expose-headers"]).toMatch(/data-as-of.*retry-after/);
});

it.each([
  ["GET", {}],
  ["OPTIONS", { "access-control-request-method": "GET" }],
])("another origin is not allowed to read the answer to %s", async (method, headers) => {
  const { url } = await serve([APP]);
  const origin = "https://evil.example";
  const response = await fetch(url + REST_PATH, { method, headers: { ...headers, origin } });
  expect(response.headers.has("access-control-allow-origin")).toBe(false);
});

it("* allows every origin", async () => {
  const { url } = await serve(["*"]);
  const response = await fetch(url + REST_PATH, { headers: { origin: "https://any.example" } });
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
});

it("a preflight request where no origin is allowed, the default, is a 405", async () => {
  const { url } = await serve([]);
  const response = await fetch(url + REST_PATH, preflight());
  expect(response.status).toBe(405);
  expect(response.headers.has("access-control-allow-origin")).toBe(false);
});
