/** Which connection goes when there are more than a server keeps. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { limitConnections } from "../../../src/admin/connection-places.ts";

/** A server that keeps two connections, and answers when it is told to. */
async function start() {
  const server = createServer(() => {});
  limitConnections(server, 2);
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const open = async () => {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    const ended = new Promise((resolve) => void socket.once("close", resolve));
    socket.resume().on("error", () => {});
    await once(server, "connection");
    return { socket, ended };
  };
  /** Sends a request; resolves to its response, which is not sent yet. */
  const ask = async (socket: Socket): Promise<ServerResponse> => {
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    return (await once(server, "request"))[1];
  };
  return { open, ask };
}

it("an idle one goes before one that waits for a response, though that was opened earlier", async () => {
  const { open, ask } = await start();
  const first = await open();
  const response = await ask(first.socket);
  const second = await open();
  await open();
  await second.ended;
  response.end("late");
  expect(String((await once(first.socket, "data"))[0])).toMatch(/late$/);
});

it("of idle ones, that goes whose last response was longest ago; of those that wait, the one that has waited longest", async () => {
  const { open, ask } = await start();
  const [first, second] = [await open(), await open()];
  for (const { socket } of [second, first]) {
    (await ask(socket)).end();
    await once(socket, "data");
  }
  const third = await open();
  await second.ended;
  await ask(third.socket);
  await ask(first.socket);
  const fourth = await open();
  await third.ended;
  (await ask(fourth.socket)).end("probe");
  expect(String((await once(fourth.socket, "data"))[0])).toMatch(/probe$/);
  // One that its client closes leaves its place.
  fourth.socket.end();
  await fourth.ended;
  await open();
  expect(first.socket.destroyed).toBe(false);
});
