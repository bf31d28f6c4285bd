/** Malformed requests, found by the fuzz test, that were once answered with an internal error. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { attack, type Ending } from "./traffic/connections.ts";
import { callMutant } from "./traffic/grpc-mutants.ts";
import { createTarget, KEY, type Target } from "./traffic/target.ts";

let target: Target;
beforeAll(async () => {
  target = await createTarget();
});
afterAll(() => target?.dispose());
beforeEach(() => target.restartIfHarmed());

const LISTEN: Ending = { kind: "listen", first: 5_000, silence: 50 };
const OVERVIEW = "/revenue.v1.RevenueService/GetOverview";
const QUERY = "connect=v1&encoding=json&message=%7B%7D";

it.each([
  ["QUERY without a content type", [`QUERY ${OVERVIEW} HTTP/1.1`, "Host: a"]],
  ["a method of RTSP without an HTTP version", ["DESCRIBE /api/provider/revenue"]],
  ["HTTP/2's PRI without an HTTP version", ["PRI /api/provider/revenue"]],
  ["a Connect GET with HTTP/1.0 and without a host", [`GET ${OVERVIEW}?${QUERY} HTTP/1.0`]],
  ["a Connect POST with HTTP/1.0 and without a host", [`POST ${OVERVIEW} HTTP/1.0`]],
  ["a Connect GET without an HTTP version", [`GET ${OVERVIEW}?${QUERY}`]],
])("%s is a client error and does no harm", async (name, lines) => {
  const request = [...lines, `X-API-Key: ${KEY}`, "Connection: close", "", ""].join("\r\n");
  const response = await attack(target.port("http"), Buffer.from(request), LISTEN);
  expect(response.toString()).toMatch(/^HTTP\/1\.1 4\d\d /);
  await target.expectUnharmed(name);
});

it.each(["v1", "v1alpha"])("a malformed reflection request (%s) is refused", async (v) => {
  const path = `/grpc.reflection.${v}.ServerReflection/ServerReflectionInfo`;
  const headers = { "content-type": "application/grpc", te: "trailers" };
  const body = Buffer.from("00000000010a", "hex");
  expect(await callMutant(target.port("grpc"), { path, headers, body })).toBe(
    "13 Error deserializing request",
  );
});
