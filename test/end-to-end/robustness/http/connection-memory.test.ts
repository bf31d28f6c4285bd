/** What idle kept-alive connections hold in memory. */
import { connect, type Socket } from "node:net";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import {
  GetOverviewResponseSchema,
  RevenueService,
} from "../../../../gen/revenue/v1/revenue_pb.ts";
import { listen } from "../../../unit/gateway/gateway.ts";
import { inParallel } from "../traffic/connections.ts";

const CONNECTIONS = 500;
const MIB = 1_048_576;
/** How far the memory of this process may grow, both ends of the connections included. */
const MAX_GROWTH = 250 * MIB;

/** Sends a request and reads a response of more than a megabyte. The connection stays open. */
async function receive(socket: Socket): Promise<void> {
  socket.write("GET /api/provider/revenue HTTP/1.1\r\nHost: a\r\n\r\n");
  const { promise, resolve } = Promise.withResolvers<void>();
  let received = 0;
  socket.on("data", (chunk) => {
    received += chunk.length;
    if (received > MIB) resolve();
  });
  await promise;
}

test("connections that stay open after a response of a megabyte keep nothing of it", async () => {
  const serverRevenue = [{ serverName: "x".repeat(MIB) }];
  const { port, calls } = await listen(RevenueService, () => {
    calls.length = 0;
    return create(GetOverviewResponseSchema, { serverRevenue });
  });
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const before = process.memoryUsage.rss();
  await inParallel(Array(CONNECTIONS).keys(), 10, async () => {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    await receive(socket);
  });
  expect(process.memoryUsage.rss() - before).toBeLessThan(MAX_GROWTH);
});
