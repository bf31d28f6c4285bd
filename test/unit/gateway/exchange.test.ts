import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createExchanges } from "../../../src/gateway/http/exchange.ts";

const REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/**
 * A server that responds with `size` bytes to each request, a moment later, or not at all, and a
 * client that does not read.
 */
async function serve(timeout: number, size?: number) {
  let handled = 0;
  let connection: Socket | undefined;
  const server = createServer();
  server.on("connection", (socket) => {
    connection = socket.on("error", () => {});
    const exchanges = createExchanges(socket, { responseTimeout: timeout });
    server.on("request", (request, response) => {
      if (request.socket !== socket) return;
      exchanges.add(request, response, () => {
        handled++;
        if (size !== undefined) setTimeout(() => response.end(Buffer.alloc(size)), 10);
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const client = connect(port, "127.0.0.1");
  client.on("error", () => {});
  onTestFinished(() => {
    client.destroy();
  });
  return {
    client,
    handled: () => handled,
    bytesRead: () => connection?.bytesRead,
  };
}

test("a connection is closed if its client does not read the response in time, even if it reads slowly", async () => {
  const { client } = await serve(500, 64 * 1024 * 1024);
  const start = performance.now();
  client.write(REQUEST);
  client.pause();
  const reads = setInterval(() => client.read(1), 50);
  onTestFinished(() => clearInterval(reads));
  // The client sees the close only after it has read everything.
  await sleep(800);
  client.resume();
  const closed = Promise.withResolvers<void>();
  client.on("close", closed.resolve);
  await closed.promise;
  expect(performance.now() - start).toBeLessThan(5_000);
});

test("a request is handled after the response to the one before it, as often as there are any", async () => {
  const { client, handled } = await serve(5_000, 10);
  for (let count = 1; count <= 3; count++) {
    client.write(REQUEST);
    const [response] = await once(client, "data");
    expect(`${response}`).toMatch(/^connection: keep-alive\r$/im);
    expect(handled()).toBe(count);
  }
});

test("nothing is read after a request that came too early", async () => {
  const { client, bytesRead } = await serve(5_000);
  client.write(REQUEST.repeat(2));
  await expect.poll(bytesRead).toBe(2 * REQUEST.length);
  client.write(REQUEST);
  await sleep(300);
  expect(bytesRead()).toBe(2 * REQUEST.length);
});

test("a request that comes while a response is being read is handled after it", async () => {
  const size = 64 * 1024 * 1024;
  const { client, handled, bytesRead } = await serve(5_000, size);
  client.write(REQUEST);
  await once(client, "readable");
  client.write(REQUEST);
  await expect.poll(bytesRead).toBe(2 * REQUEST.length);
  expect(handled()).toBe(1);
  client.resume();
  await expect.poll(handled).toBe(2);
});
