import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createExchangeQueue } from "../../../src/gateway/exchange-queue.ts";

const REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/** A server that answers each request with some bytes, and a connection to it that is not read. */
async function serve(timeout: number, size: number) {
  let handled = 0;
  const server = createServer();
  server.on("connection", (socket) => {
    socket.on("error", () => {});
    const queue = createExchangeQueue(socket, timeout, () => socket.destroy());
    server.on("request", (request, response) => {
      if (request.socket !== socket) return;
      queue.add(request, response, () => {
        handled++;
        response.end(Buffer.alloc(size));
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.on("error", () => {});
  onTestFinished(() => {
    client.destroy();
  });
  return { client, handled: () => handled };
}

test("a connection whose response is not taken in time is closed, although it takes a byte now and then", async () => {
  const { client } = await serve(500, 64 * 1024 * 1024);
  const began = performance.now();
  client.write(REQUEST);
  client.pause();
  const sips = setInterval(() => client.read(1), 50);
  onTestFinished(() => clearInterval(sips));
  // What arrived is read at the end, so that the close shows.
  await sleep(800);
  client.resume();
  await once(client, "close");
  expect(performance.now() - began).toBeLessThan(5_000);
});

test("no further request is handled while a response waits to be taken", async () => {
  const { client, handled } = await serve(5_000, 64 * 1024 * 1024);
  client.pause();
  client.write(REQUEST.repeat(20));
  await sleep(300);
  expect(handled()).toBe(1);
});

test("pipelined requests are all handled, one after the other", async () => {
  const { client, handled } = await serve(5_000, 10);
  client.resume();
  client.write(REQUEST.repeat(100));
  await expect.poll(handled).toBe(100);
});
