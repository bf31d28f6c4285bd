/** HTTP/1.1 connections of clients that are slow, send too much, or send several requests at once. */
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test, vi } from "vitest";
import { GetOverviewResponseSchema, RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError } from "../../../src/errors.ts";
import { REQUESTS, request } from "../../end-to-end/robustness/exchanges.ts";
import {
  exchange,
  handleOverview,
  JSON_BODY,
  listen,
  open,
  overview,
  PATH,
  parse,
} from "./gateway.ts";

const REQUEST = "GET /api/provider/revenue HTTP/1.1\r\nHost: a\r\n";
const never = () => new Promise<never>(() => {});
const anyone = () => {};
const overloaded = () => {
  throw new ServiceError("overloaded");
};
/** A response of 40 MB, more than the buffers between two sockets hold. */
const WIDE = create(GetOverviewResponseSchema, {
  serverRevenue: Array.from({ length: 200 }, () => ({ serverName: "x".repeat(200_000) })),
});

const statusesIn = (responses: string) =>
  [...responses.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);

/** Sends bytes one by one, a few milliseconds apart, until there is a response. */
async function drip(port: number, bytes: string): Promise<string> {
  const socket = open(port);
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

const POST = `POST ${PATH} HTTP/1.1\r\nHost: a\r\n${JSON_BODY}\r\nContent-Length: 9\r\n\r\n{`;

test("a request that does not arrive in time is a 408, however slowly it arrives", async () => {
  const limits = { headersTimeout: 100, requestTimeout: 300 };
  const { port } = await listen(RevenueService, never, anyone, { limits });
  const responses = await Promise.all([
    exchange(port),
    exchange(port, "GET /api/provider"),
    drip(port, `GET /${"a".repeat(10_000)}`),
    exchange(port, POST),
  ]);
  const body = '{"error":"Request Timeout","message":"the request was not received in time"}';
  for (const response of responses) expect(parse(response)).toMatchObject({ status: 408, body });
});

test("an idle connection is closed", async () => {
  const limits = { keepAliveTimeout: 100 };
  const { port } = await listen(RevenueService, never, anyone, { limits });
  expect(parse(await exchange(port, "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n")).status).toBe(404);
});

test("a response that is not read within its time closes the connection, even if it is read slowly", async () => {
  const events: string[] = [];
  const report = (event: string) => events.push(event);
  const parts = { limits: { responseTimeout: 300 }, report };
  const { server, port } = await listen(RevenueService, () => WIDE, anyone, parts);
  const client = open(port).pause();
  client.write(`${REQUEST}\r\n`);
  const [socket] = await once(server, "connection");
  const reads = setInterval(() => client.read(1), 20);
  onTestFinished(() => clearInterval(reads));
  await once(socket, "close");
  expect(events).toEqual(["responseTimeout"]);
});

const { grpcWeb, connectGet } = REQUESTS;

test("a connection serves one request after the other", async () => {
  const { port } = await listen(RevenueService, () => overview, anyone);
  const client = open(port);
  for (const bytes of [REQUESTS.overview, grpcWeb, REQUESTS.overview]) {
    client.write(bytes);
    const [response] = await once(client, "data");
    expect(`${response}`).toMatch(/^HTTP\/1\.1 200 /);
    expect(`${response}`).toMatch(/^connection: keep-alive\r$/im);
  }
});

test.each([
  ["REST", REQUESTS.overview, "HTTP/1.1 503"],
  ["Connect", connectGet, "HTTP/1.1 503"],
  ["gRPC-Web", grpcWeb, "grpc-status: 14"],
])("a 503 closes its connection (%s)", async (_, bytes, status) => {
  const { port } = await listen(RevenueService, never, overloaded);
  const raw = await exchange(port, bytes);
  expect(raw.match(/HTTP\/1\.1/g)).toHaveLength(1);
  expect(raw).toContain(status);
  expect(raw).toMatch(/^connection: close\r$/im);
});

test("a client that half-closes after its request gets no response, and its call is canceled", async () => {
  const { port, calls } = await listen(RevenueService, never);
  const client = open(port);
  client.end(`${REQUEST}\r\n`);
  await once(client.resume(), "close");
  await expect.poll(() => calls[0]?.signal.aborted).toBe(true);
});

const LONG = request("GET /api/provider/revenue", [`X-Long: ${"a".repeat(17_000)}`]);
const FIVE_HUNDRED = Buffer.concat(Array<Buffer>(500).fill(REQUESTS.overview));

test.each([
  ["a REST call before 500 others", REQUESTS.overview, FIVE_HUNDRED, "200"],
  ["a malformed request before a REST call", REQUESTS.malformed, REQUESTS.overview, "400"],
  ["headers that are too large before a REST call", LONG, REQUESTS.overview, "431"],
])("pipelining is declined: %s is answered, and nothing else", async (...row) => {
  const [, first, next, status] = row;
  const { port, calls } = await listen(RevenueService, () => overview, anyone);
  const responses = await exchange(port, Buffer.concat([first, next]));
  expect(statusesIn(responses)).toEqual([status]);
  expect(responses).toMatch(/^connection: close\r$/im);
  expect(calls.length).toBeLessThan(2);
});

/** 10 MiB that look like requests. */
const BODY = Buffer.alloc(10 * 1024 * 1024, "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
const NEXT = "GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const DECLARED = `Content-Length: ${BODY.length}`;
const CHUNKED = "Transfer-Encoding: chunked";
const GRPC_WEB = "Content-Type: application/grpc-web+proto";
const GET = "GET /api/provider/revenue";

test.each<[string, string, readonly string[], string]>([
  ["an unknown path", "POST /nothing", [DECLARED], "404"],
  ["REST", GET, [DECLARED], "413"],
  ["REST, chunked", GET, [CHUNKED], "200"],
  ["Connect, chunked", `POST ${PATH}`, [JSON_BODY, CHUNKED], "413"],
  ["gRPC-Web, chunked", `POST ${PATH}`, [GRPC_WEB, CHUNKED], "200"],
])("a body of 10 MiB is not taken for other requests: %s", async (_, line, headers, status) => {
  const { port, calls } = await listen(RevenueService, handleOverview, anyone);
  const client = open(port);
  const isChunked = headers.includes(CHUNKED);
  client.write([`${line} HTTP/1.1`, "Host: a", ...headers, "", ""].join("\r\n"));
  if (isChunked) client.write(`${BODY.length.toString(16)}\r\n`);
  client.write(BODY);
  client.write(isChunked ? `\r\n0\r\n\r\n${NEXT}` : NEXT);
  const responses = (await client.setEncoding("utf8").toArray()).join("");
  // Connect-ES reads the bodies of some requests, up to the limit. Then the connection is closed.
  const isClosed = /^connection: close\r$/im.test(
    responses.slice(0, responses.indexOf("\r\n\r\n")),
  );
  expect(statusesIn(responses)).toEqual(isClosed ? [status] : [status, "404"]);
  expect(calls.length).toBeLessThan(2);
  if (headers.includes(GRPC_WEB)) expect(responses).toContain("grpc-status: 8");
});

test.each([
  ["an overloaded service", `POST ${PATH}`, JSON_BODY, 503],
  [
    "a client that wants the connection closed",
    "POST /api/provider/revenue",
    "Connection: close",
    405,
  ],
])(
  "%s: a client that goes on sending receives the response, and no reset before it",
  async (_, line, header, status) => {
    const { port } = await listen(RevenueService, handleOverview, overloaded);
    for (let count = 0; count < 3; count++) {
      const client = open(port);
      client.write(`${line} HTTP/1.1\r\nHost: a\r\n${header}\r\nContent-Length: 60000\r\n\r\n`);
      for (let sent = 0; sent < 60_000; sent += 15_000) {
        client.write(Buffer.alloc(15_000));
        await new Promise(setImmediate);
      }
      const [response] = await once(client, "data");
      expect(`${response}`).toContain(`HTTP/1.1 ${status} `);
    }
  },
);

test("a client that goes on sending requests can read the response ahead of them, however late", async () => {
  const answer = Promise.withResolvers<typeof overview>();
  const { port, calls } = await listen(RevenueService, () => answer.promise);
  // The connection is closed a second later, which a busy machine may take.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const client = open(port).pause();
  for (let sent = 0; sent < 60; sent++) {
    client.write(`${REQUEST}X-API-Key: k\r\n\r\n`);
    if (sent === 20) answer.resolve(overview);
    await sleep(3);
  }
  const received = await text(client.resume());
  expect(statusesIn(received)).toEqual(["200"]);
  expect(received).toMatch(/^connection: close\r$/im);
  expect(calls).toHaveLength(1);
});
