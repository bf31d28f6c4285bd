/** How long HTTP/1.1 connections live, which are refused, and which responses close them. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import {
  GetOverviewResponseSchema,
  RevenueService,
} from "../../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError } from "../../../../src/errors.ts";
import { createUnreadLimit } from "../../../../src/net/unread.ts";
import { exchange, listen, parse } from "../../../unit/gateway/gateway.ts";

const REQUEST = "GET /api/provider/revenue HTTP/1.1\r\nHost: a\r\n";
const never = () => new Promise<never>(() => {});
const authenticate = () => {};
/** The timeouts are checked every second. */
const CHECKED = 1_500;

/** Sends bytes one by one, a few milliseconds apart, until the connection closes. */
async function drip(port: number, bytes: string): Promise<string> {
  const socket = connect(port, "127.0.0.1")
    .setNoDelay()
    .on("error", () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  let received = "";
  socket.setEncoding("utf8").on("data", (chunk) => {
    received += chunk;
  });
  for (let sent = 0; !socket.destroyed && received === ""; sent++) {
    socket.write(bytes.charAt(sent));
    await sleep(20);
  }
  return received;
}

test.each<[string, (port: number) => Promise<string>]>([
  ["of which no byte arrives", (port) => exchange(port)],
  ["of which a part arrives", (port) => exchange(port, "GET /api/provider")],
  ["that arrives byte by byte", (port) => drip(port, `GET /${"a".repeat(1_000)}`)],
])("a request %s is a 408 after the headers' timeout", async (_name, send) => {
  const limits = { headersTimeout: 300 };
  const { port } = await listen(RevenueService, never, authenticate, { limits });
  const start = performance.now();
  const response = parse(await send(port));
  expect(performance.now() - start).toBeLessThan(300 + CHECKED);
  expect(response.status).toBe(408);
  expect(response.body).toBe(
    '{"error":"Request Timeout","message":"the request was not received in time"}',
  );
});

test("a request whose body does not arrive is a 408 after the request's timeout", async () => {
  const limits = { headersTimeout: 100, requestTimeout: 300 };
  const { port } = await listen(RevenueService, never, authenticate, { limits });
  const start = performance.now();
  const head = `POST /revenue.v1.RevenueService/GetOverview HTTP/1.1\r\nHost: a\r\n`;
  const raw = await exchange(
    port,
    `${head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`,
  );
  expect(parse(raw).status).toBe(408);
  expect(performance.now() - start).toBeLessThan(300 + CHECKED);
});

test("a connection is closed when it was idle for the time of the limit", async () => {
  const limits = { keepAliveTimeout: 300 };
  const { port } = await listen(RevenueService, never, authenticate, { limits });
  const start = performance.now();
  expect(parse(await exchange(port, "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n")).status).toBe(404);
  // Node adds a second, so that a client that keeps to the announced time meets no reset.
  expect(performance.now() - start).toBeGreaterThan(300);
  expect(performance.now() - start).toBeLessThan(3_000);
});

test("a response that is not read within its time closes the connection", async () => {
  const serverRevenue = Array.from({ length: 200 }, () => ({ serverName: "x".repeat(200_000) }));
  const wide = create(GetOverviewResponseSchema, { serverRevenue });
  const limits = { responseTimeout: 300 };
  const events: string[] = [];
  const report = (event: string) => events.push(event);
  const parts = { limits, report };
  const { server, port } = await listen(RevenueService, () => wide, authenticate, parts);
  const client = connect(port, "127.0.0.1").on("error", () => {});
  client.pause().write(`${REQUEST}\r\n`);
  const [socket] = await once(server, "connection");
  await once(socket, "close");
  expect(events).toEqual(["responseTimeout"]);
});

test("connections are closed if their clients leave more unread than the limit", async () => {
  const serverRevenue = Array.from({ length: 200 }, () => ({ serverName: "x".repeat(200_000) }));
  const wide = create(GetOverviewResponseSchema, { serverRevenue });
  const events: string[] = [];
  const unread = createUnreadLimit({ maxUnreadBytes: 60e6, report: (event) => events.push(event) });
  onTestFinished(unread.stop);
  const { server, port } = await listen(RevenueService, () => wide, authenticate, { unread });
  for (let count = 0; count < 2; count++) {
    const client = connect(port, "127.0.0.1").on("error", () => {});
    client.pause().write(`${REQUEST}\r\n`);
    onTestFinished(() => {
      client.destroy();
    });
  }
  await expect.poll(() => events, { timeout: 5_000 }).toEqual(["tooManyUnreadBytes"]);
  const open = await new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
  expect(open).toBe(1);
});

test("a connection that is refused is not served", async () => {
  const acceptConnection = (socket: Socket) => !socket.destroy();
  const { port } = await listen(RevenueService, never, authenticate, { acceptConnection });
  expect(await exchange(port, `${REQUEST}\r\n`).catch(() => "")).toBe("");
});

const CONNECT_GET = "GET /revenue.v1.RevenueService/GetOverview?encoding=json&message={}";

const GRPC_WEB_POST = [
  "POST /revenue.v1.RevenueService/GetOverview HTTP/1.1",
  "Host: a",
  "Content-Type: application/grpc-web+proto",
  "Content-Length: 5",
].join("\r\n");

const CONNECT_POST = [
  "POST /revenue.v1.RevenueService/GetOverview HTTP/1.1",
  "Host: a",
  "Content-Type: application/json",
  "Content-Length: 2",
].join("\r\n");

test.each([
  ["REST", `${REQUEST}\r\n`],
  ["Connect GET", `${CONNECT_GET} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ["Connect POST", `${CONNECT_POST}\r\n\r\n{}`],
  ["gRPC-Web", `${GRPC_WEB_POST}\r\n\r\n\0\0\0\0\0`],
])("a connection serves one request after the other (%s)", async (_, request) => {
  const overview = create(GetOverviewResponseSchema);
  const { port } = await listen(RevenueService, () => overview, authenticate);
  const client = connect(port, "127.0.0.1");
  onTestFinished(() => {
    client.destroy();
  });
  for (let count = 0; count < 3; count++) {
    client.write(request);
    const [response] = await once(client, "data");
    expect(`${response}`).toMatch(/^HTTP\/1\.1 200 /);
    expect(`${response}`).toMatch(/^connection: keep-alive\r$/im);
  }
});

test.each([
  ["REST", `${REQUEST}\r\n`, "HTTP/1.1 503"],
  ["Connect", `${CONNECT_GET} HTTP/1.1\r\nHost: a\r\n\r\n`, "HTTP/1.1 503"],
  ["gRPC-Web", `${GRPC_WEB_POST}\r\n\r\n\0\0\0\0\0`, "grpc-status: 14"],
])("a 503 closes its connection (%s)", async (_, request, status) => {
  const overloaded = () => {
    throw new ServiceError("overloaded");
  };
  const { port } = await listen(RevenueService, never, overloaded);
  const raw = await exchange(port, request);
  expect(raw.match(/HTTP\/1\.1/g)).toHaveLength(1);
  expect(raw).toContain(status);
  expect(raw).toMatch(/^connection: close\r$/im);
});

test("a client that half-closes after its request gets no response, and its call is canceled", async () => {
  const { port, calls } = await listen(RevenueService, never);
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => {
    socket.destroy();
  });
  socket.end(`${REQUEST}\r\n`);
  expect(await text(socket)).toBe("");
  await expect.poll(() => calls[0]?.signal.aborted).toBe(true);
});
