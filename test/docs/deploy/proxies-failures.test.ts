/** nginx and HAProxy as shipped, where a client or an instance does what it should not: others are served. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  createServer as createHttp2Server,
  type Http2Server,
  type OutgoingHttpHeaders,
} from "node:http2";
import { connect as connectTcp } from "node:net";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import {
  createProxyFixture,
  findProxies,
  type InstancePorts,
  instancePorts,
  PROXIES,
  type ProxyFixture,
} from "./proxy-fixture.ts";

let fixture: ProxyFixture;
let key: string;
let database: TestDatabase;
let services: ServiceProcess[];
let ports: InstancePorts[];

beforeAll(() => void findProxies());

beforeAll(async () => {
  database = await createDatabase();
  await smallLedger(database);
  ({ key } = await issueKey(database.knex, "1", "test", null));
  ports = [await instancePorts(), await instancePorts()];
  services = await Promise.all(
    ports.map((own) => startService(database.url, { ...own, TRUSTED_PROXIES: "127.0.0.1" })),
  );
  fixture = await createProxyFixture();
});

afterAll(async () => {
  await fixture?.dispose();
  for (const service of services ?? []) await service.kill();
  await database?.drop();
});

const LONG = "x".repeat(7_500);
const MESSAGE = Buffer.alloc(5);

/** Requests without a key that end more than their own stream, or did. */
const BAD_REQUESTS: readonly [string, OutgoingHttpHeaders, Buffer][] = [
  ["2,000 bytes behind its message", {}, Buffer.alloc(2_000)],
  ["a long path", { ":path": `/${LONG}` }, MESSAGE],
  ["a long grpc-timeout", { "grpc-timeout": LONG }, MESSAGE],
  ["a long grpc-encoding", { "grpc-encoding": LONG }, MESSAGE],
];

/** Sends a request of gRPC. Resolves when its stream has ended, however. */
async function sendGrpc(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body: Buffer,
): Promise<void> {
  const stream = session.request({
    ":method": "POST",
    ":path": "/revenue.v1.RevenueService/GetOverview",
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  const closed = new Promise((resolve) => stream.once("close", resolve));
  stream.on("error", () => {}).resume();
  stream.end(body);
  await closed;
}

it.each(PROXIES)(
  "%s: bad gRPC requests of one client take no instance from the others",
  async (name) => {
    const proxy = await fixture.start(name, ports);
    const { grpc } = fixture.callers(proxy, key);
    const lost: string[] = [];
    for (const [kind, headers, body] of BAD_REQUESTS) {
      const session = connectHttp2(`https://localhost:${proxy.grpc}`, { ca: fixture.ca });
      session.on("error", () => {});
      // Two for each instance.
      for (let sent = 0; sent < 4; sent++) await sendGrpc(session, headers, body);
      session.destroy();
      for (let call = 0; call < 4; call++) {
        const problem = await grpc?.("other");
        if (problem !== undefined) lost.push(`${kind}: ${problem}`);
      }
    }
    expect(lost).toEqual([]);
  },
);

/** An instance that is ready, and ends each connection when a request has come. Counts these. */
async function startClosingInstance() {
  const own = await instancePorts();
  let requests = 0;
  const listen = async (server: Server | Http2Server, port: string) => {
    server.listen(Number(port), "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
  };
  await listen(
    createServer((request) => {
      requests++;
      request.resume().on("end", () => request.socket.destroy());
    }),
    own.HTTP_PORT,
  );
  await listen(
    createServer((_, response) => response.end()),
    own.ADMIN_PORT,
  );
  await listen(createHttp2Server(), own.GRPC_PORT);
  return { ports: own, requests: () => requests };
}

it.each(PROXIES)("%s: what an instance does not answer is sent to the other one", async (name) => {
  const closing = await startClosingInstance();
  const proxy = await fixture.start(name, [closing.ports, ports[1] as InstancePorts]);
  const { rest, connect, grpcWeb } = fixture.callers(proxy, key);
  const calls = { rest, connect, grpcWeb };
  const lost: string[] = [];
  for (const [protocol, call] of Object.entries(calls)) {
    const before = closing.requests();
    for (let made = 0; made < 8; made++) {
      const problem = await call?.("repeated");
      if (problem !== undefined) lost.push(`${protocol}: ${problem}`);
    }
    expect(closing.requests(), protocol).toBeGreaterThan(before);
  }
  expect(lost).toEqual([]);
});

it("HAProxy ends connections without a handshake, and keeps a health watch that is silent for longer", async () => {
  // The watch is silent for as many timeouts as handshakes are awaited.
  const proxy = await fixture.start("haproxy", ports, (text) =>
    text.replace(/timeout client \d+s/, "timeout client 500ms"),
  );
  const client = new Client(
    `localhost:${proxy.grpc}`,
    credentials.createSsl(Buffer.from(fixture.ca)),
  );
  onTestFinished(() => client.close());
  const received: number[] = [];
  let ended = false;
  const watch = client.makeServerStreamRequest(
    "/grpc.health.v1.Health/Watch",
    () => Buffer.alloc(0),
    (bytes) => bytes,
    {},
    new Metadata(),
  );
  watch.on("data", (bytes: Buffer) => received.push(bytes.length));
  watch.on("error", () => {}).on("close", () => (ended = true));
  await until(() => received.length === 1);
  for (const [port, sent] of [
    [proxy.grpc, ""],
    [proxy.grpc, "160301020001"],
    [proxy.http, ""],
    [proxy.http, "160301020001"],
  ] as const) {
    const socket = connectTcp(port, "127.0.0.1");
    socket.on("error", () => {}).resume();
    socket.write(Buffer.from(sent, "hex"));
    await once(socket, "close");
  }
  expect({ ended, received }).toEqual({ ended: false, received: [received[0]] });
  watch.cancel();
});
