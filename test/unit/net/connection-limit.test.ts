import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createConnectionLimit } from "../../../src/net/connection-limit.ts";
import { until } from "../../support/poll.ts";

/** Listens with a limit. `open` resolves to a connection's socket if it was accepted. */
async function listen(max: number) {
  const events: string[] = [];
  const accept = createConnectionLimit(max, (event) => events.push(event));
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (accept(socket)) socket.write("accepted");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => void server.close());
  return {
    events,
    async open(): Promise<Socket | undefined> {
      const socket = connect({ port, host: "127.0.0.1" });
      onTestFinished(() => void socket.destroy());
      const { promise, resolve } = Promise.withResolvers<Socket | undefined>();
      socket.on("error", () => {});
      socket.once("data", () => resolve(socket));
      socket.once("close", () => resolve(undefined));
      return promise;
    },
  };
}

it("a connection beyond the limit is refused, until another has closed", async () => {
  const { open, events } = await listen(1);
  const first = await open();
  expect(await open()).toBeUndefined();
  expect(events).toEqual(["tooManyConnections"]);
  first?.destroy();
  await until(async () => (await open()) !== undefined);
});
