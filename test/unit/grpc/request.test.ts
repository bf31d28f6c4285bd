/** Headers of gRPC requests, which cost what they are once decoded. */
import { expect, it } from "vitest";
import { reduceHeaders } from "../../../src/grpc/request.ts";
import { EMPTY, listen, OVERVIEW, openSession, openStream, statusOf } from "./grpc-server.ts";

it("those that nobody needs are left out, and those that calls are made of stay", () => {
  const needed = {
    ":method": "POST",
    ":path": OVERVIEW,
    "content-type": "application/grpc",
    "x-api-key": "key",
    "x-forwarded-for": "192.0.2.1",
    traceparent: "00-1-2-01",
  };
  const headers = { ...needed, "a-bin": "AA==,AA==", "x-other": "1", cookie: "a=b" };
  reduceHeaders(headers);
  expect(headers).toEqual(needed);
});

it.each([
  ["2147484S", "60000m"],
  ["99999999H", "60000m"],
  ["61S", "60000m"],
  ["60S", "60S"],
  ["5m", "5m"],
  ["a", "a"],
])("a timeout of %s is %s", (timeout, expected) => {
  const headers = { "grpc-timeout": timeout };
  reduceHeaders(headers);
  expect(headers["grpc-timeout"]).toBe(expected);
});

it("a call with a timeout of more than 24 days is answered", async () => {
  const { port, calls } = await listen();
  const stream = openStream(openSession(port), OVERVIEW, { "grpc-timeout": "2147484S" });
  stream.end(EMPTY);
  expect(await statusOf(stream)).toBe("0 OK");
  expect(calls[0]?.deadline).toBeGreaterThan(Date.now() + 30_000);
});
