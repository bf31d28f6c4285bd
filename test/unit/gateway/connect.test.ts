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

const UNSUPPORTED =
  'unsupported content type "text/xml"; expected application/json or application/proto (Connect), or application/grpc-web, also with +proto or +json (gRPC-Web, whose text mode is not served)';
const XML = "Content-Type: text/xml";

test.each<[number, string, string, string]>([
  [415, "another content type", post("<a/>", XML), UNSUPPORTED],
  [415, "GET with one", lastRequest(`GET ${PATH}?encoding=json&message=%7B%7D`, XML), UNSUPPORTED],
  [
    415,
    "GET without a message",
    lastRequest(`GET ${PATH}`),
    "a Connect GET has its message in the query: expected encoding=json&message=%7B%7D, or encoding=proto",
  ],
  [405, "another method", lastRequest(`PUT ${PATH}`), "allowed methods: GET, POST"],
])("%i for %s, in JSON and in the log, and counted", async (status, _name, request, message) => {
  const countRejection = vi.fn();
  const { port, lines } = await listen(RevenueService, handleOverview, undefined, {
    countRejection,
  });
  const response = parse(await exchange(port, request));
  expect(response.status).toBe(status);
  expect(JSON.parse(response.body)).toEqual({ error: STATUS_CODES[status], message });
  expect(lines).toMatchObject([{ message: "request rejected", fields: { status } }]);
  expect(countRejection.mock.calls).toEqual([[status]]);
});
