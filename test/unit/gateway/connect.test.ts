import { STATUS_CODES } from "node:http";
import { connect } from "node:net";
import { expect, test, vi } from "vitest";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError } from "../../../src/errors.ts";
import type { IncomingCall } from "../../../src/rpc/call.ts";
import { until } from "../../support/poll.ts";
import { exchange, handleOverview, lastRequest, listen, PATH, parse } from "./gateway.ts";

test("a call is canceled when its client disconnects before its message is complete", async () => {
  const accepted: IncomingCall[] = [];
  const { port, calls } = await listen(RevenueService, handleOverview, (incoming) => {
    accepted.push(incoming);
  });
  const socket = connect(port, "127.0.0.1");
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
  );
  await until(() => accepted.length === 1);
  expect(accepted[0]?.signal.aborted).toBe(false);
  socket.destroy();
  await until(() => accepted[0]?.signal.aborted === true);
  expect(accepted[0]?.signal.reason).toEqual(new ServiceError("canceled"));
  expect(calls).toEqual([]);
});

/** A POST to GetOverview. */
const post = (body: string, ...headers: readonly string[]) =>
  lastRequest(`POST ${PATH}`, ...headers, `Content-Length: ${body.length}`) + body;

test.each([
  ["application/json", "{", "invalidArgument"],
  ["application/grpc-web+proto", "\0\0\0\0\x01\xff", "invalidArgument"],
])("a call whose message cannot be decoded ends with its error: %s", async (type, body, kind) => {
  const { port, calls, rejected } = await listen(RevenueService, handleOverview);
  await exchange(port, post(body, `Content-Type: ${type}`));
  expect(rejected.map((error) => error.kind)).toEqual([kind]);
  expect(calls).toEqual([]);
});

test.each([
  ["connect-timeout-ms: 9999999999", "application/json", "{}"],
  ["grpc-timeout: 99999999H", "application/grpc-web+proto", "\0\0\0\0\0"],
])("a timeout that no timer can hold overflows none: %s", async (timeout, type, body) => {
  using warn = vi.spyOn(process, "emitWarning");
  const { port, calls } = await listen(RevenueService, handleOverview);
  await exchange(port, post(body, `Content-Type: ${type}`, timeout));
  expect(calls[0]?.deadline).toBeGreaterThan(Date.now() + 2 ** 31);
  expect(warn).not.toHaveBeenCalled();
});

const ALLOWED = "allowed methods: GET, POST";
const TYPES =
  "expected application/json or application/proto (Connect), or application/grpc-web, also with +proto or +json (gRPC-Web, whose text mode is not served)";

test.each<[number, string, string, string | RegExp]>([
  [
    415,
    "an unknown content type",
    post("<a/>", "Content-Type: text/xml"),
    `unsupported content type "text/xml"; ${TYPES}`,
  ],
  [
    415,
    "gRPC-Web's text mode",
    post("", "Content-Type: application/grpc-web-text"),
    `unsupported content type "application/grpc-web-text"; ${TYPES}`,
  ],
  [415, "no content type", post(""), `unsupported content type ""; ${TYPES}`],
  [
    415,
    "GET without a message",
    lastRequest(`GET ${PATH}`),
    "a Connect GET has its message in the query: expected encoding=json&message=%7B%7D, or encoding=proto",
  ],
  [
    415,
    "GET with a content type of something else",
    lastRequest(`GET ${PATH}?encoding=json&message=%7B%7D`, "Content-Type: text/plain"),
    `unsupported content type "text/plain"; ${TYPES}`,
  ],
  [405, "another method", lastRequest(`PUT ${PATH}`), ALLOWED],
  [405, "a method of WebDAV", lastRequest(`PROPFIND ${PATH}`), ALLOWED],
  [
    404,
    "another procedure",
    lastRequest("POST /revenue.v1.RevenueService/Nope"),
    /^no resource at this path; the paths are /,
  ],
])("%i for %s, in JSON and in the log, and counted", async (status, _name, request, message) => {
  const counted: number[] = [];
  const countRejection = (status: number) => void counted.push(status);
  const parts = { countRejection };
  const { port, lines } = await listen(RevenueService, handleOverview, undefined, parts);
  const response = parse(await exchange(port, request));
  expect(response.status).toBe(status);
  const { error, ...rest } = JSON.parse(response.body);
  expect(error).toBe(STATUS_CODES[status]);
  expect(rest).toEqual({
    message: typeof message === "string" ? message : expect.stringMatching(message),
  });
  expect(lines).toMatchObject([{ message: "request rejected", fields: { status } }]);
  expect(counted).toEqual([status]);
});
