/** Responses that clients do not read: of those that need no key, the gateway says so. */
import type { Socket } from "node:net";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { GetOverviewResponseSchema, RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { until } from "../../support/poll.ts";
import { listen, open } from "./gateway.ts";

/** More than the sockets of both ends buffer. */
const LARGE = 20_000_000;
const FILE = { path: "/file", type: "text/plain", body: Buffer.alloc(LARGE, "x") };

const RESPONSE = create(GetOverviewResponseSchema, {
  serverRevenue: [{ serverName: "x".repeat(LARGE) }],
});

/** Sends a request on a connection. */
function ask(socket: Socket, path: string): Socket {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  return socket;
}

it("files are public, and answers of calls are not, also on one connection", async () => {
  const { port, unread } = await listen(RevenueService, () => RESPONSE, undefined, { web: [FILE] });
  const found = () => [...unread()].map(({ isPublic }) => isPublic);
  ask(open(port), "/api/provider/revenue").pause();
  await until(() => found().length === 1);
  expect(found()).toEqual([false]);

  const reader = ask(open(port), FILE.path);
  await until(() => found().length === 2);
  expect(found()).toEqual([false, true]);
  let received = 0;
  reader.on("data", (data) => {
    received += data.length;
  });
  await until(() => received > LARGE);
  await until(() => found().length === 1);
  reader.pause();
  ask(reader, "/api/provider/revenue");
  await until(() => found().length === 2);
  expect(found()).toEqual([false, false]);
});
