/** The log of gRPC requests that do not become a call. */
import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { expect, it } from "vitest";
import { until } from "../../support/poll.ts";
import {
  call,
  EMPTY,
  listen,
  OVERVIEW,
  openSession,
  openStream,
  statusOf,
  type TestServer,
  WATCH,
} from "./grpc-server.ts";

/** Serves, and collects what is logged. */
async function serve(
  respond?: () => Promise<never>,
): Promise<TestServer & { lines: object[]; session: ClientHttp2Session }> {
  const lines: object[] = [];
  const log = { info: (fields: object, msg: string) => lines.push({ ...fields, msg }) };
  const server = await listen({ log }, respond);
  return { ...server, lines, session: openSession(server.port) };
}

/** The start of a message of 9 MB. */
const LARGE = Buffer.from([0, 0, 0x90, 0, 0, 1]);

it.each<[string, Record<string, string>, Buffer, object]>([
  ["an unknown method", { ":path": "/a.B/C" }, EMPTY, { code: "UNIMPLEMENTED" }],
  ["another content type", { "content-type": "text/plain" }, EMPTY, { status: 415 }],
  ["a message that is too large", {}, LARGE, { code: "RESOURCE_EXHAUSTED" }],
  ["no message", {}, Buffer.alloc(0), { code: "UNIMPLEMENTED" }],
  ["a malformed timeout", { "grpc-timeout": "x" }, EMPTY, { code: "INTERNAL" }],
  [
    "a health check of an unknown service",
    { ":path": "/grpc.health.v1.Health/Check" },
    Buffer.from([0, 0, 0, 0, 3, 0x0a, 1, 0x61]),
    { code: "NOT_FOUND" },
  ],
])("a request with %s has a line with the status that its client got", async (...row) => {
  const [, headers, body, result] = row;
  const { session, lines, calls } = await serve();
  const stream = openStream(session, OVERVIEW, { "x-request-id": "r", ...headers });
  stream.end(body);
  await statusOf(stream);
  await until(() => lines.length > 0);
  expect(lines).toEqual([{ requestId: "r", protocol: "grpc", ...result, msg: "request rejected" }]);
  expect(calls).toEqual([]);
});

it("calls, which the pipeline logs, health checks and cancelled watches have no such line", async () => {
  const { session, lines } = await serve(() => Promise.reject(new Error("failed")));
  expect(await call(session)).toMatch(/^13 /);
  expect(await call(session, "/grpc.health.v1.Health/Check")).toBe("0 OK");
  const watch = openStream(session, WATCH);
  watch.end(EMPTY);
  await once(watch, "data");
  watch.close(8);
  await statusOf(watch);
  expect(await call(session, "/a.B/C")).toMatch(/^12 /);
  await until(() => lines.length > 0);
  expect(lines).toHaveLength(1);
});
