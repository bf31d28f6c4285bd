/** TLS on a port: handshakes, and that the limits of connections hold with it. */
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTls } from "node:tls";
import { expect, it, onTestFinished, vi } from "vitest";
import { type GetOverviewResponse, RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { parseCertificates, readContents } from "../../../src/config/certificates.ts";
import { createPortTls, HANDSHAKE_TIMEOUT } from "../../../src/tls/port-tls.ts";
import { until } from "../../support/poll.ts";
import { createAuthority, createFiles } from "../../support/tls/certificates.ts";
import { handleOverview, listen as listenHttp } from "../gateway/gateway.ts";
import * as grpc from "../grpc/grpc-server.ts";

const authority = await createAuthority();
const pair = await authority.issue();
/** The TLS of a port until the end of the test, and its events. */
function openTls(protocol: "h2" | "http/1.1") {
  const events: string[] = [];
  const report = (event: string) => void events.push(event);
  const { files, ...folder } = createFiles(pair);
  onTestFinished(() => folder[Symbol.dispose]());
  const current = parseCertificates(readContents(files));
  const certificates = { current, failures: 0, onChange() {} };
  return { events, parts: { report, tls: createPortTls({ certificates, protocol, report }) } };
}

async function openGateway(more: { maxConnections?: number } = {}) {
  const { parts, events } = openTls("http/1.1");
  const all = { ...parts, ...more };
  return { ...(await listenHttp(RevenueService, handleOverview, undefined, all)), events };
}

async function openGrpc(
  more: { maxConnections?: number } = {},
  respond = async () => grpc.emptyResponse,
) {
  const { parts, events } = openTls("h2");
  return { ...(await grpc.listen({ ...parts, ...more }, respond)), events };
}

it("a connection is counted before its handshake", async () => {
  for (const open of [openGateway, openGrpc]) {
    const { port } = await open({ maxConnections: 0 });
    await grpc.openSocket(port).closed;
    const refused = connectTls({ port, host: "127.0.0.1", ca: authority.cert });
    await expect(once(refused, "secureConnect")).rejects.toThrow(/reset|disconnected/i);
  }
});

it("a handshake that is not complete in time closes the connection, and counts once; a client that only connects, as a load balancer does, does not", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { port, events } = await openGateway();
  const probe = grpc.openSocket(port);
  await once(probe.socket, "connect");
  probe.socket.end();
  await probe.closed;
  const { socket, closed } = grpc.openSocket(port);
  socket.write(Buffer.from([0x16])); // the first byte of one
  await until(() => {
    vi.advanceTimersByTime(HANDSHAKE_TIMEOUT);
    return events.length > 0;
  });
  await closed;
  // The next event is that of another connection.
  const { socket: plain, closed: refused } = grpc.openSocket(port);
  plain.write("GET / HTTP/1.1\r\n\r\n");
  await refused;
  await until(() => events.length > 1);
  expect(events).toEqual(["tlsHandshakeTimeout", "tlsHandshakeFailed"]);
});

it("on the gRPC port, a stop waits for a call, and its connection ends in one step", async () => {
  const response = Promise.withResolvers<GetOverviewResponse>();
  const { port, server, calls } = await openGrpc({}, () => response.promise);
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert });
  onTestFinished(() => session.destroy());
  const status = grpc.call(session);
  await until(() => calls.length === 1);
  const goaway = once(session, "goaway");
  const stopped = server.stop(600_000);
  expect((await goaway)[1]).toBe(1);
  response.resolve(grpc.emptyResponse);
  expect(await status).toBe("0 OK");
  await stopped;
});
