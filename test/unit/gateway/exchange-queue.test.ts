import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createExchangeQueue } from "../../../src/gateway/http/exchange-queue.ts";

const REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/** A server that responds with `size` bytes to each request, or not at all, and a client that does not read. */
async function serve(timeout: number, size?: number) {
  let handled = 0;
  let parsed = 0;
  const paths: (string | undefined)[] = [];
  let connection: Socket | undefined;
  const server = createServer();
  server.on("connection", (socket) => {
    connection = socket.on("error", () => {});
    const queue = createExchangeQueue(socket, {
      responseTimeout: timeout,
      maxPipelined: 100,
      overflow: () => socket.destroySoon(),
    });
    server.on("request", (request, response) => {
      if (request.socket !== socket) return;
      parsed++;
      queue.add(request, response, () => {
        handled++;
        paths.push(request.url);
        if (size !== undefined) response.end(Buffer.alloc(size));
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
    port,
    paths,
    handled: () => handled,
    parsed: () => parsed,
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

test("no further request is handled until the client has read the response", async () => {
  const { client, handled } = await serve(5_000, 64 * 1024 * 1024);
  client.pause();
  client.write(REQUEST.repeat(20));
  await sleep(300);
  expect(handled()).toBe(1);
});

test("nothing is read while a request waits", async () => {
  const { client, bytesRead } = await serve(5_000);
  client.write(REQUEST.repeat(2));
  await expect.poll(bytesRead).toBe(2 * REQUEST.length);
  client.write(REQUEST);
  await sleep(300);
  expect(bytesRead()).toBe(2 * REQUEST.length);
});

test("pipelined requests are all handled, one after another", async () => {
  const { client, handled } = await serve(5_000, 10);
  client.resume();
  client.write(REQUEST.repeat(100));
  await expect.poll(handled).toBe(100);
});

test("of too many pipelined requests, one and the 100 that may wait are handled, then the connection closes", async () => {
  const { client, handled } = await serve(5_000, 10);
  client.resume();
  client.write(REQUEST.repeat(150));
  await once(client, "close");
  expect(handled()).toBe(101);
});

test("of a chunk of 2,000 pipelined requests, those after the 100 that may wait are not parsed", async () => {
  const { client, handled, parsed } = await serve(5_000, 10);
  client.resume();
  client.write(REQUEST.repeat(2_000));
  await once(client, "close");
  expect([handled(), parsed()]).toEqual([101, 102]);
});

test("pipelined requests do not delay the request of another connection", async () => {
  const { client, paths, port } = await serve(5_000, 10);
  const other = connect(port, "127.0.0.1").resume();
  onTestFinished(() => {
    other.destroy();
  });
  await once(other, "connect");
  client.resume();
  client.write(REQUEST.repeat(100));
  other.write(REQUEST.replace("/", "/other"));
  await expect.poll(() => paths.length).toBe(101);
  expect(paths.indexOf("/other")).toBeLessThan(50);
});
