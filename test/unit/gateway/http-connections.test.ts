/** HTTP/1.1 connections of clients that are slow, send too much, or send several requests at once. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { GetOverviewResponseSchema, RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError } from "../../../src/errors.ts";
import { REQUESTS } from "../../end-to-end/robustness/exchanges.ts";
import { until } from "../../support/poll.ts";
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
/** A response of 16 MB, more than the buffers between two sockets hold. */
const WIDE = create(GetOverviewResponseSchema, {
  serverRevenue: Array.from({ length: 80 }, () => ({ serverName: "x".repeat(200_000) })),
});

const statusesIn = (responses: string) =>
  [...responses.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);

test("an idle connection is closed, and a request that does not arrive in time is a 408, however slowly it arrives", async () => {
  const times = { headersTimeout: 100, requestTimeout: 300, keepAliveTimeout: 100 };
  const limits = { ...times, connectionsCheckingInterval: 50 };
  const { port } = await listen(RevenueService, never, anyone, { limits });
  const silent = exchange(port);
  const dripping = open(port);
  dripping.write("GET /");
  const drops = setInterval(() => dripping.write("a"), 20);
  dripping.once("close", () => clearInterval(drops));
  const posting = open(port);
  posting.write(`POST ${PATH} HTTP/1.1\r\nHost: a\r\n${JSON_BODY}\r\nContent-Length: 9\r\n\r\n{`);
  const idle = open(port);
  idle.write("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n");
  const [dripped, posted] = await Promise.all([dripping, posting, idle].map(received));
  // A connection with bytes that were not read in time may be reset before its client has read the same.
  for (const response of [dripped, posted]) expect(response).toMatch(/^(?:HTTP\/1\.1 408 |$)/);
  const { status, body } = parse(await silent);
  expect([status, JSON.parse(body).error]).toEqual([408, "Request Timeout"]);
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

test.each([
  ["REST", REQUESTS.overview, "HTTP/1.1 503"],
  ["gRPC-Web", REQUESTS.grpcWeb, "grpc-status: 14"],
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

test("a connection beyond the limit is closed, and others go on", async () => {
  const events: string[] = [];
  const report = (event: string) => events.push(event);
  const parts = { maxConnections: 1, report };
  const { port } = await listen(RevenueService, () => overview, anyone, parts);
  const client = open(port);
  await once(client, "connect");
  await expect(exchange(port).catch(() => "")).resolves.toBe("");
  client.write(`${REQUEST}\r\n`);
  const [response] = await once(client, "data");
  expect(statusesIn(`${response}`)).toEqual(["200"]);
  expect(events).toEqual(["tooManyConnections"]);
});

const FIVE_HUNDRED = Buffer.concat(Array<Buffer>(500).fill(REQUESTS.overview));

test("pipelining is declined: a REST call before 500 others is answered, and nothing else", async () => {
  const { port, calls } = await listen(RevenueService, () => overview, anyone);
  const responses = await exchange(port, Buffer.concat([REQUESTS.overview, FIVE_HUNDRED]));
  expect(statusesIn(responses)).toEqual(["200"]);
  expect(responses).toMatch(/^connection: close\r$/im);
  expect(calls).toHaveLength(1);
});

test("a request that comes while the response before it is being sent is answered after that", async () => {
  const responses = [WIDE, overview];
  const { port, calls } = await listen(RevenueService, () => responses.shift() ?? overview);
  const client = open(port).pause();
  client.write(`${REQUEST}\r\n`);
  await once(client, "readable");
  client.write(`${REQUEST}Connection: close\r\n\r\n`);
  expect(statusesIn(await text(client))).toEqual(["200", "200"]);
  expect(calls).toHaveLength(2);
});

/** What a client gets that has sent more than is read: its connection may be reset after it. */
async function received(client: Socket): Promise<string> {
  let response = "";
  client.on("data", (bytes) => (response += bytes));
  await new Promise((resolve) => client.once("close", resolve));
  return response;
}

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
  ["Connect, chunked", `POST ${PATH}`, [JSON_BODY, CHUNKED], "429"],
  ["gRPC-Web, chunked", `POST ${PATH}`, [GRPC_WEB, CHUNKED], "200"],
])("a body of 10 MiB is not taken for other requests: %s", async (_, line, headers, status) => {
  const { port, calls } = await listen(RevenueService, handleOverview, anyone);
  const isChunked = headers.includes(CHUNKED);
  const [before, after] = isChunked
    ? [`${BODY.length.toString(16)}\r\n`, "\r\n0\r\n\r\n"]
    : ["", ""];
  const head = [`${line} HTTP/1.1`, "Host: a", ...headers, "", before].join("\r\n");
  const client = open(port);
  client.write(Buffer.concat([Buffer.from(head), BODY, Buffer.from(after + NEXT)]));
  const responses = await received(client);
  // Connect-ES reads the bodies of some requests, up to the limit. Then the connection is closed.
  const isClosed = /^connection: close\r$/im.test(responses.split("\r\n\r\n")[0] ?? "");
  expect(statusesIn(responses)).toEqual(isClosed ? [status] : [status, "404"]);
  expect(calls.length).toBeLessThan(2);
  if (headers.includes(GRPC_WEB)) expect(responses).toContain("grpc-status: 8");
});

test("of a client that goes on sending requests, no more is read until it has its response", async () => {
  const answer = Promise.withResolvers<typeof overview>();
  const { server, port, calls } = await listen(RevenueService, () => answer.promise);
  let read = 0;
  server.on("request", () => read++);
  const client = open(port);
  client.write(Buffer.concat(Array<Buffer>(50_000).fill(REQUESTS.overview)));
  await until(() => calls.length > 0);
  for (let turns = 0; turns < 200; turns++) await new Promise(setImmediate);
  // As many as one read of the socket holds.
  expect(read).toBeLessThan(2_000);
  answer.resolve(overview);
  expect(statusesIn(await received(client))).toEqual(["200"]);
  expect(calls).toHaveLength(1);
});
