/** TLS on the HTTP port: the limits of connections hold with it. */
import { get } from "node:https";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { create } from "@bufbuild/protobuf";
import { expect, it, onTestFinished, vi } from "vitest";
import { GetOverviewResponseSchema, RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import type { GatewayParts } from "../../../src/gateway/server.ts";
import { limitUnread } from "../../../src/net/unread.ts";
import { HANDSHAKE_TIMEOUT } from "../../../src/tls/port-tls.ts";
import { until } from "../../support/poll.ts";
import { createAuthority } from "../../support/tls/certificates.ts";
import { openPortTls } from "../tls/port.ts";
import { listen } from "./gateway.ts";

const authority = await createAuthority();
const pair = await authority.issue();

/** A gateway with TLS and a response of 6 MB until the end of the test. */
async function listenTls(options: Partial<GatewayParts> = {}) {
  const { parts, events } = openPortTls("http/1.1", pair);
  const response = create(GetOverviewResponseSchema, {
    serverRevenue: Array.from({ length: 60 }, () => ({ serverName: "x".repeat(100_000) })),
  });
  const all = { ...parts, ...options };
  return { ...(await listen(RevenueService, () => response, undefined, all)), events };
}

/** A TCP connection until the end of the test. */
function openTcp(port: number) {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  onTestFinished(() => void socket.destroy());
  return { socket, closed: new Promise((resolve) => socket.once("close", resolve)) };
}

/** The status of a request, or the code of its error. */
function getStatus(port: number): Promise<unknown> {
  return new Promise((resolve) => {
    get({ port, ca: authority.cert, agent: false }, ({ statusCode }) => resolve(statusCode)).once(
      "error",
      (error: NodeJS.ErrnoException) => resolve(error.code),
    );
  });
}

it("a connection is counted before its handshake", async () => {
  const { port, events } = await listenTls({ acceptConnection: (socket) => !socket.destroy() });
  await openTcp(port).closed;
  expect(await getStatus(port)).toBe("ECONNRESET");
  expect(events).toEqual([]);
});

it("a handshake that is not complete in time closes the connection", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { port, events } = await listenTls();
  const { socket, closed } = openTcp(port);
  socket.write(Buffer.from([0x16])); // the first byte of one
  await until(() => {
    vi.advanceTimersByTime(HANDSHAKE_TIMEOUT);
    return events.length > 0;
  });
  await closed;
  // It counts once: the next event is that of another connection.
  const { socket: plain, closed: refused } = openTcp(port);
  plain.write("GET / HTTP/1.1\r\n\r\n");
  await refused;
  await until(() => events.length > 1);
  expect(events).toEqual(["tlsHandshakeTimeout", "tlsHandshakeFailed"]);
});

it("a client that does not speak TLS is refused, and counted; one that only connects is not", async () => {
  const { port, events } = await listenTls();
  const probe = openTcp(port);
  await new Promise((resolve) => probe.socket.once("connect", resolve));
  probe.socket.end();
  await probe.closed;
  const { socket, closed } = openTcp(port);
  socket.write("GET /api/provider/revenue HTTP/1.1\r\nHost: a\r\n\r\n");
  await closed;
  await until(() => events.length > 0);
  expect(events).toEqual(["tlsHandshakeFailed"]);
});

it("a client that does not read its responses is disconnected", async () => {
  const closed: string[] = [];
  const { port, server, unread } = await listenTls();
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const report = (event: string) => void closed.push(event);
  limitUnread({ sources: [unread], maxUnreadBytes: 1e6, report });
  const socket = connectTls({ port, host: "127.0.0.1", ca: authority.cert });
  socket.on("error", () => {}).pause();
  onTestFinished(() => void socket.destroy());
  socket.write("GET /api/provider/revenue HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => {
    vi.advanceTimersByTime(250);
    return closed.length === 1;
  });
  const open = new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
  expect(await open).toBe(0);
});
