/** HTTP/2 on the HTTP port answers as HTTP/1.1 does. */
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it, test } from "vitest";
import { GetOverviewResponseSchema } from "../../../../gen/revenue/v1/revenue_pb.ts";
import { MAX_MESSAGE_BYTES } from "../../../../src/rpc/call.ts";
import { until } from "../../../support/poll.ts";
import { handleOverview, PATH } from "../overview.ts";
import { listenTls, openHttp2, openTls, send } from "./gateway-tls.ts";

const REST = "/api/provider/revenue";
const KEY = { "x-api-key": "k" };
const JSON_TYPE = { "content-type": "application/json" };
const WEB_TYPE = { "content-type": "application/grpc-web+proto" };
const EMPTY = new Uint8Array(5);

interface Case {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Headers that belong to the connection, or differ in each response. */
const VARYING = ["connection", "keep-alive", "date", "x-request-id", "transfer-encoding"];

function comparable(headers: Iterable<readonly [string, unknown]>) {
  return Object.fromEntries(
    [...headers].filter(([name]) => !name.startsWith(":") && !VARYING.includes(name)),
  );
}

it.each<[string, Case, number]>([
  ["REST", { path: REST, headers: KEY }, 200],
  ["REST with HEAD", { path: REST, method: "HEAD", headers: KEY }, 200],
  ["a missing key", { path: REST }, 401],
  ["two keys", { path: REST, headers: { ...KEY, authorization: "Bearer k" } }, 200],
  ["an unknown path", { path: "/nothing", headers: KEY }, 404],
  ["a method that is not allowed", { path: REST, method: "POST", headers: KEY }, 405],
  ["a malformed path", { path: "/%zz", headers: KEY }, 400],
  ["an unknown parameter", { path: `${REST}?x=1`, headers: KEY }, 400],
  ["an unsupported expectation", { path: REST, headers: { ...KEY, expect: "cookies" } }, 417],
  ["Connect", { path: PATH, method: "POST", headers: { ...KEY, ...JSON_TYPE }, body: "{}" }, 200],
  ["Connect without a key", { path: PATH, method: "POST", headers: JSON_TYPE, body: "{}" }, 401],
  [
    "a malformed message (Connect)",
    { path: PATH, method: "POST", headers: { ...KEY, ...JSON_TYPE }, body: "{" },
    400,
  ],
  [
    "a message that is too large (Connect)",
    {
      path: PATH,
      method: "POST",
      headers: { ...KEY, ...JSON_TYPE },
      body: `"${"x".repeat(70_000)}"`,
    },
    413,
  ],
  ["Connect with an unknown type", { path: PATH, method: "POST", headers: KEY, body: "{}" }, 415],
  ["gRPC-Web", { path: PATH, method: "POST", headers: { ...KEY, ...WEB_TYPE }, body: EMPTY }, 200],
  ["gRPC-Web without a key", { path: PATH, method: "POST", headers: WEB_TYPE, body: EMPTY }, 200],
])(
  "HTTP/2 has the response of HTTP/1.1: %s",
  async (_, { path, method, headers, body }, status) => {
    const { url, port } = await listenTls();
    const session = openHttp2(url);
    const response = await send(
      session,
      { ":path": path, ":method": method ?? "GET", ...headers },
      body,
    );
    const socket = await openTls(port);
    const lines = Object.entries({ host: "a", connection: "close", ...headers });
    const length = body === undefined ? [] : [["content-length", Buffer.byteLength(body)]];
    socket.write(
      `${method ?? "GET"} ${path} HTTP/1.1\r\n${[...lines, ...length].map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`,
    );
    if (body !== undefined) socket.write(body);
    const raw = await text(socket);
    const [head = "", ...rest] = raw.split("\r\n\r\n");
    const [first = "", ...fields] = head.split("\r\n");
    const expected = fields.map((line): [string, string] => {
      const [, name = "", value = ""] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
      return [name.toLowerCase(), value];
    });
    expect(response.status).toBe(status);
    expect(first).toContain(` ${status} `);
    expect(comparable(Object.entries(response.headers))).toEqual(comparable(expected));
    expect(rest.join("\r\n\r\n")).toContain(response.body);
    expect(response.headers["x-request-id"]).toMatch(/^[\w-]{36}$/);
  },
);

describe("a response that is sent before the body has arrived ends the stream, not the connection:", () => {
  it.each<[string, Record<string, string>, number]>([
    ["an unknown path", { ":path": "/nothing" }, 404],
    ["a bad key (REST)", { ":path": REST, ":method": "GET" }, 401],
    ["a bad key (Connect)", { ":path": PATH, ...JSON_TYPE }, 401],
    ["an unknown content type", { ":path": PATH, ...KEY }, 415],
  ])("%s", async (_, headers, status) => {
    const { url, calls } = await listenTls();
    const session = openHttp2(url);
    const request = { ":method": "POST", "content-length": "9000000", ...headers };
    const response = await send(session, request, "x", false);
    expect(response).toMatchObject({ status, code: 0 });
    expect(calls).toEqual([]);
    expect(await send(session, { ":path": REST, ...KEY })).toMatchObject({ status: 200 });
  });
});

it("a call that takes longer than a body may take is not cut off", async () => {
  const { url } = await listenTls({ sessions: { requestTimeout: 200 } }, async (call) => {
    await sleep(900);
    return handleOverview(call);
  });
  expect(await send(openHttp2(url), { ":path": REST, ...KEY })).toMatchObject({ status: 200 });
});

it("CONNECT is 405", async () => {
  const { url } = await listenTls();
  const session = openHttp2(url);
  const stream = session.request({ ":method": "CONNECT", ":authority": "a:1" });
  stream.on("error", () => {});
  const [headers] = await once(stream, "response");
  expect(headers).toMatchObject({ ":status": 405, allow: "GET, HEAD" });
});

it.each([0, 8])("a client that resets a stream with code %d cancels its call", async (code) => {
  let aborted = false;
  const { url, calls } = await listenTls({}, async ({ signal }) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    aborted = true;
    return create(GetOverviewResponseSchema);
  });
  const session = openHttp2(url);
  const stream = session.request({ ":path": REST, ...KEY });
  stream.on("error", () => {});
  await until(5_000, () => calls.length === 1);
  stream.close(code);
  await until(5_000, () => aborted);
});

it("streams beyond the limit of a connection wait or are refused, and the others are served", async () => {
  const { url } = await listenTls({ sessions: { maxStreams: 4 } });
  const session = openHttp2(url);
  await once(session, "remoteSettings");
  const statuses = await Promise.all(
    Array.from({ length: 40 }, async () => (await send(session, { ":path": REST, ...KEY })).status),
  );
  expect(statuses).toEqual(Array(40).fill(200));
});

it("after many cancelled requests the connection is closed gracefully", async () => {
  const { url } = await listenTls({ sessions: { maxCancels: 100 } }, () => new Promise(() => {}));
  const session = openHttp2(url);
  const goaway = once(session, "goaway");
  for (let count = 0; count < 120; count++) {
    const stream = session.request({ ":path": REST, ...KEY });
    stream.on("error", () => {});
    stream.once("ready", () => stream.close(8));
  }
  const [code] = await goaway;
  expect(code).toBe(0);
});

it("a message and headers beyond the limits are refused", async () => {
  const { url, port } = await listenTls({ limits: { maxHeaderSize: 4_096 } });
  const headers = { ":path": PATH, ":method": "POST", ...KEY, ...JSON_TYPE };
  const body = JSON.stringify("x".repeat(MAX_MESSAGE_BYTES));
  expect(await send(openHttp2(url), headers, body)).toMatchObject({ status: 413 });
  const socket = await openTls(port);
  socket.write(`GET ${REST} HTTP/1.1\r\nHost: a\r\nX-Large: ${"x".repeat(5_000)}\r\n\r\n`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 431 /);
});

it("an idle connection is closed", async () => {
  const { url } = await listenTls({ limits: { keepAliveTimeout: 300 } });
  const session = openHttp2(url);
  const closed = new Promise((resolve) => session.once("close", resolve));
  expect(await send(session, { ":path": REST, ...KEY })).toMatchObject({ status: 200 });
  await closed;
});

test("headers that are too large end the stream, not the process", async () => {
  const { url } = await listenTls();
  const session = openHttp2(url);
  await once(session, "remoteSettings");
  const large = await send(session, { ":path": REST, ...KEY, "x-large": "x".repeat(60_000) });
  expect(large).toMatchObject({ status: 0, code: 11 });
  expect(await send(openHttp2(url), { ":path": REST, ...KEY })).toMatchObject({ status: 200 });
});

describe("a stop", () => {
  it("finishes the requests of a connection, and closes it", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const gateway = await listenTls({}, async (call) => {
      await promise;
      return handleOverview(call);
    });
    const session = openHttp2(gateway.url);
    const idle = openHttp2(gateway.url);
    await once(idle, "remoteSettings");
    const response = send(session, { ":path": REST, ...KEY });
    await until(5_000, () => gateway.calls.length === 1);
    const closed = Promise.all([once(session, "close"), once(idle, "close")]);
    const stopped = gateway.stop(10_000);
    await once(session, "goaway");
    resolve();
    expect(await response).toMatchObject({ status: 200 });
    await Promise.all([stopped, closed]);
  });

  it("cuts off what takes too long, and handshakes that are not complete", async () => {
    const gateway = await listenTls({}, () => new Promise(() => {}));
    const response = send(openHttp2(gateway.url), { ":path": REST, ...KEY });
    await until(5_000, () => gateway.calls.length === 1);
    await gateway.stop(300);
    expect(await response).toMatchObject({ status: 0 });
  });
});
