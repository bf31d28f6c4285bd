/** Requests that the fuzz found: each is the client's fault, and was answered as the service's. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { attack, type Ending } from "./traffic/connections.ts";
import { callMutant } from "./traffic/grpc-mutants.ts";
import { KEY, setTarget, type Target } from "./traffic/target.ts";

let target: Target;
beforeAll(async () => {
  target = await setTarget();
});
afterAll(() => target?.dispose());
beforeEach(() => target.revive());

const LISTEN: Ending = { kind: "listen", patience: 5_000, silence: 50 };
const OVERVIEW = "/revenue.v1.RevenueService/GetOverview";
const QUERY = "connect=v1&encoding=json&message=%7B%7D";

it.each([
  ["QUERY without a content type", [`QUERY ${OVERVIEW} HTTP/1.1`, "Host: a"]],
  ["a method of RTSP, without a version of HTTP", ["DESCRIBE /api/provider/revenue"]],
  ["HTTP/2's PRI, without a version of HTTP", ["PRI /api/provider/revenue"]],
  ["a Connect GET of HTTP/1.0 without a host", [`GET ${OVERVIEW}?${QUERY} HTTP/1.0`]],
  ["a Connect POST of HTTP/1.0 without a host", [`POST ${OVERVIEW} HTTP/1.0`]],
  ["a Connect GET without a version of HTTP", [`GET ${OVERVIEW}?${QUERY}`]],
])("%s is refused and harms nobody", async (name, lines) => {
  const request = [...lines, `X-API-Key: ${KEY}`, "Connection: close", "", ""].join("\r\n");
  const answer = await attack(target.port("http"), Buffer.from(request), LISTEN);
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 4\d\d /);
  await target.expectUnharmed(name);
});

it.each(["v1", "v1alpha"])("a malformed reflection request (%s) is INVALID_ARGUMENT", async (v) => {
  const path = `/grpc.reflection.${v}.ServerReflection/ServerReflectionInfo`;
  const headers = { "content-type": "application/grpc", te: "trailers" };
  const body = Buffer.from("00000000010a", "hex");
  expect(await callMutant(target.port("grpc"), { path, headers, body })).toMatch(/^3 /);
});
