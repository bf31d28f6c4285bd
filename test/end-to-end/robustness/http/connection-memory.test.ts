/** What an idle kept-alive connection keeps in the heap. */
import { connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import {
  GetOverviewResponseSchema,
  RevenueService,
} from "../../../../gen/revenue/v1/revenue_pb.ts";
import { listen } from "../../../unit/gateway/gateway.ts";

const CONNECTIONS = 1_000;
/** Bytes of both ends of a connection: its client is in this process too. Measured: 5,900. */
const MAX_BYTES = 7_500;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

async function heapUsed(): Promise<number> {
  for (let turn = 0; turn < 10; turn++) {
    await nextTurn();
    collectGarbage();
  }
  return process.memoryUsage().heapUsed;
}

/** Opens connections and sends a request on each. Resolves when all have their responses. */
async function open(port: number, count: number): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
  await Promise.all(
    sockets.map(async (socket) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      socket.once("data", () => resolve());
      socket.write("GET /api/provider/revenue HTTP/1.1\r\nHost: a\r\n\r\n");
      await promise;
    }),
  );
  return sockets;
}

test("an idle connection keeps nothing of its last request and response", async () => {
  const { port, calls } = await listen(RevenueService, () => create(GetOverviewResponseSchema));
  const warm = await open(port, CONNECTIONS);
  for (const socket of warm) socket.destroy();
  calls.length = 0;
  const before = await heapUsed();
  const sockets = await open(port, CONNECTIONS);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  calls.length = 0;
  const each = ((await heapUsed()) - before) / CONNECTIONS;
  expect(each).toBeLessThan(MAX_BYTES);
});
