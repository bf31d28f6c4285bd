import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError } from "../../../src/errors.ts";
import type { IncomingCall } from "../../../src/rpc/call.ts";
import { exchange, listen, parse } from "./gateway.ts";
import { handleOverview, JSON_BODY, PATH } from "./overview.ts";

/** Accepts the key "k" only. */
const authenticate = ({ credentials }: IncomingCall) => {
  if (credentials.xApiKey[0] !== "k") throw new ServiceError("unauthenticated");
};

const GRPC_WEB = "Content-Type: application/grpc-web+proto";

/** The head of a request whose body is longer than what is sent of it. */
function head(line: string, ...headers: readonly string[]): string {
  return [`${line} HTTP/1.1`, "Host: a", "Content-Length: 9000000", ...headers, "", ""].join(
    "\r\n",
  );
}

/** The head of an envelope of gRPC-Web. */
function envelopeHead(length: number, flags = 0): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt8(flags);
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

const NEXT = "GET /api/provider/revenue HTTP/1.1\r\nHost: a\r\nX-API-Key: k\r\n\r\n";

test.each<[string, string, string | Uint8Array, string]>([
  ["an unknown path", head("POST /nothing"), "", "HTTP/1.1 404"],
  ["an unknown method", head("POST /api/provider/revenue"), "x", "HTTP/1.1 405"],
  ["an unknown method of Connect", head(`PUT ${PATH}`, "X-API-Key: k"), "x", "HTTP/1.1 405"],
  ["a bad key (REST)", head("GET /api/provider/revenue"), "x", "HTTP/1.1 401"],
  ["a bad key (Connect)", head(`POST ${PATH}`, JSON_BODY), "{", "HTTP/1.1 401"],
  ["a bad key (gRPC-Web)", head(`POST ${PATH}`, GRPC_WEB), "x", "grpc-status: 16"],
  ["an unknown content type", head(`POST ${PATH}`, "X-API-Key: k"), "x", "HTTP/1.1 415"],
  [
    "a large message (Connect)",
    head(`POST ${PATH}`, "X-API-Key: k", JSON_BODY),
    Buffer.alloc(70_000),
    "HTTP/1.1 413",
  ],
  [
    "a large message (gRPC-Web)",
    head(`POST ${PATH}`, "X-API-Key: k", GRPC_WEB),
    Buffer.concat([envelopeHead(70_000), Buffer.alloc(70_000)]),
    "grpc-status: 8",
  ],
  [
    "a malformed envelope (gRPC-Web)",
    head(`POST ${PATH}`, "X-API-Key: k", GRPC_WEB),
    Buffer.concat([envelopeHead(1, 1), Buffer.from("x")]),
    "grpc-status: 3",
  ],
])(
  "the connection closes if the response is sent before the body has arrived: %s",
  async (...row) => {
    const [, request, body, status] = row;
    const { port, calls } = await listen(RevenueService, handleOverview, authenticate);
    const start = performance.now();
    const raw = await exchange(port, request, body);
    expect(raw).toContain(status);
    expect(raw).toMatch(/connection: close\r\n/i);
    expect(performance.now() - start).toBeLessThan(2_500);
    expect(calls).toEqual([]);
  },
);

test("the bytes after such a request are not read as a request", async () => {
  const { port, calls } = await listen(RevenueService, handleOverview, authenticate);
  const raw = await exchange(port, head("POST /nothing"), NEXT, NEXT);
  expect(raw.match(/HTTP\/1\.1/g)).toHaveLength(1);
  expect(calls).toEqual([]);
});

test("a client that continues to send receives the response, and no reset before it", async () => {
  const { port } = await listen(RevenueService, handleOverview, authenticate);
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
  });
  let broken = false;
  socket.on("error", () => {
    broken = true;
  });
  socket.write(head(`POST ${PATH}`, "X-API-Key: k", JSON_BODY));
  for (let sent = 0; sent < 20; sent++) {
    socket.write(Buffer.alloc(20_000));
    await sleep(10);
  }
  expect(broken).toBe(false);
  const [response] = await once(socket, "data");
  expect(parse(`${response}`).status).toBe(413);
});

test.each([
  ["an unknown path", "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n", 404],
  ["an empty body", "POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", 404],
  ["a bad key", "GET /api/provider/revenue HTTP/1.1\r\nHost: a\r\n\r\n", 401],
])("the connection stays open if there is no body: %s", async (_name, request, status) => {
  const { port } = await listen(RevenueService, handleOverview, authenticate);
  const socket = connect(port, "127.0.0.1");
  socket.write(request);
  const [first] = await once(socket, "data");
  socket.write(NEXT.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
  expect([parse(`${first}`).status, parse(await text(socket)).status]).toEqual([status, 200]);
});
