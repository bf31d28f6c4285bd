/** Responses that clients do not read: of those that need no key, the gateway says so. */
import { connect, type Socket } from "node:net";
import { create } from "@bufbuild/protobuf";
import { expect, it, onTestFinished } from "vitest";
import { GetOverviewResponseSchema, RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { until } from "../../support/poll.ts";
import { listen } from "./gateway.ts";

/** More than the sockets of both ends buffer. */
const LARGE = 20_000_000;
const FILE = { path: "/file", type: "text/plain", body: Buffer.alloc(LARGE, "x") };

const RESPONSE = create(GetOverviewResponseSchema, {
  serverRevenue: [{ serverName: "x".repeat(LARGE) }],
});

/** A connection that sends a request. */
function open(port: number, path: string): Socket {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  onTestFinished(() => void socket.destroy());
  request(socket, path);
  return socket;
}

const request = (socket: Socket, path: string) =>
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);

it("files are public, and answers of calls are not, also on one connection", async () => {
  const { port, unread } = await listen(RevenueService, () => RESPONSE, undefined, { web: [FILE] });
  const found = () => [...unread()].map(({ isPublic }) => isPublic);
  open(port, "/api/provider/revenue").pause();
  await until(() => found().length === 1);
  expect(found()).toEqual([false]);

  const reader = open(port, FILE.path);
  await until(() => found().length === 2);
  expect(found()).toEqual([false, true]);
  let received = 0;
  reader.on("data", (data) => {
    received += data.length;
  });
  await until(() => received > LARGE);
  await until(() => found().length === 1);
  reader.pause();
  request(reader, "/api/provider/revenue");
  await until(() => found().length === 2);
  expect(found()).toEqual([false, false]);
});
