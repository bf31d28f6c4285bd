/** TLS on the gRPC port: the limits of connections hold with it. */
import { connect as connectHttp2 } from "node:http2";
import { expect, it, onTestFinished } from "vitest";
import type { GrpcOptions } from "../../../src/grpc/server.ts";
import { until } from "../../support/poll.ts";
import { createAuthority } from "../../support/tls/certificates.ts";
import { openPortTls } from "../tls/port.ts";
import { call, listen, openSocket, openStream, statusOf } from "./grpc-server.ts";

const authority = await createAuthority();
const pair = await authority.issue();

/** A server with TLS until the end of the test. */
async function listenTls(options: GrpcOptions) {
  const { parts, events } = openPortTls("h2", pair);
  return { ...(await listen({ ...options, ...parts })), events };
}

it("a connection is admitted before its handshake", async () => {
  const { port, events } = await listenTls({ acceptConnection: (socket) => !socket.destroy() });
  await openSocket(port).closed;
  expect(events).toEqual([]);
});

it("a message that does not arrive in time is refused, and the next call is answered", async () => {
  const { port } = await listenTls({ requestTimeout: 300 });
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  expect(await statusOf(openStream(session))).toMatch(/^4 /);
  // A busy machine may take that long, too.
  await until(async () => (await call(session)) === "0 OK");
});
