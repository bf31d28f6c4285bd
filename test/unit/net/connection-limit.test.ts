import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createAddresses } from "../../../src/net/address.ts";
import {
  type ConnectionLimitParts,
  createConnectionLimit,
} from "../../../src/net/connection-limit.ts";
import { until } from "../../support/poll.ts";

/** Listens with limits. `open` resolves to a connection's socket if it was accepted. */
async function listen(limits: Partial<ConnectionLimitParts>) {
  const events: string[] = [];
  const accept = createConnectionLimit({
    maxConnections: 1_000,
    maxConnectionsPerAddress: 1_000,
    addresses: createAddresses(["127.0.0.9"]),
    report: (event) => events.push(event),
    ...limits,
  });
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
    async open(localAddress = "127.0.0.1"): Promise<Socket | undefined> {
      const socket = connect({ port, host: "127.0.0.1", localAddress });
      onTestFinished(() => void socket.destroy());
      const { promise, resolve } = Promise.withResolvers<Socket | undefined>();
      socket.on("error", () => {});
      socket.once("data", () => resolve(socket));
      socket.once("close", () => resolve(undefined));
      return promise;
    },
  };
}

it.each<[Partial<ConnectionLimitParts>, string, string]>([
  [{ maxConnections: 1 }, "127.0.0.3", "tooManyConnections"],
  [{ maxConnectionsPerAddress: 1 }, "127.0.0.2", "tooManyConnectionsOfAddress"],
])("%j refuses one more, until another has closed", async (limits, from, event) => {
  const { open, events } = await listen(limits);
  const first = await open("127.0.0.2");
  expect(await open(from)).toBeUndefined();
  expect(events).toEqual([event]);
  if (limits.maxConnectionsPerAddress) expect(await open("127.0.0.3")).toBeDefined();
  first?.destroy();
  await until(async () => (await open(from)) !== undefined);
});

it("a trusted proxy has no limit of its own", async () => {
  const { open, events } = await listen({ maxConnectionsPerAddress: 1, maxConnections: 3 });
  for (let count = 0; count < 3; count++) expect(await open("127.0.0.9")).toBeDefined();
  expect(await open("127.0.0.9")).toBeUndefined();
  expect(events).toEqual(["tooManyConnections"]);
});

it.each([
  { openFiles: 258, accepted: 129 },
  { openFiles: 600, accepted: 344 },
])("of $openFiles open files, $accepted may be connections", async ({ accepted, ...limits }) => {
  const { open } = await listen(limits);
  const opened = await Promise.all(Array.from({ length: accepted + 5 }, () => open()));
  expect(opened.filter((socket) => socket !== undefined)).toHaveLength(accepted);
});
