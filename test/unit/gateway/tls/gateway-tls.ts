/** A gateway with TLS, and clients of it. */
import { once } from "node:events";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { Message } from "@bufbuild/protobuf";
import { onTestFinished } from "vitest";
import { RevenueService } from "../../../../gen/revenue/v1/revenue_pb.ts";
import { readCertificates } from "../../../../src/config/certificates.ts";
import { ServiceError } from "../../../../src/errors.ts";
import type { GatewayParts } from "../../../../src/gateway/server.ts";
import type { IncomingCall } from "../../../../src/rpc/call.ts";
import { watchCertificates } from "../../../../src/tls/certificate-watch.ts";
import { createPortTls } from "../../../../src/tls/port-tls.ts";
import { createAuthority, createFiles } from "../../../support/tls/certificates.ts";
import { type Call, listen, type TestGateway } from "../gateway.ts";
import { handleOverview } from "../overview.ts";

const authority = await createAuthority();
const pair = await authority.issue();

/** Accepts the key "k" only. */
const authenticate = ({ credentials }: IncomingCall) => {
  if (credentials.xApiKey[0] !== "k") throw new ServiceError("unauthenticated");
};

/** Limits that differ from the defaults. */
interface Options extends Partial<GatewayParts> {
  readonly handshakeTimeout?: number;
}

/** A gateway with TLS until the end of the test. */
export async function listenTls(
  { handshakeTimeout = 10_000, ...parts }: Options = {},
  handle: (call: Call) => Message | Promise<Message> = handleOverview,
): Promise<TestGateway & { events: string[] }> {
  const events: string[] = [];
  const report = (event: string) => void events.push(event);
  const files = createFiles(pair);
  onTestFinished(() => files[Symbol.dispose]());
  const certificates = watchCertificates({
    files: files.files,
    certificates: readCertificates(files.files),
    log: { info() {}, error() {} },
  });
  onTestFinished(() => certificates.stop());
  const tls = createPortTls({
    ...{ certificates, handshakeTimeout, report, protocol: "http/1.1" },
  });
  const gateway = await listen(RevenueService, handle, authenticate, {
    tls,
    report,
    ...parts,
  });
  return { ...gateway, url: `https://127.0.0.1:${gateway.port}`, events };
}

/** A TLS connection until the end of the test. */
export async function openTls(
  port: number,
  protocols: string[] = ["http/1.1"],
): Promise<TLSSocket> {
  const socket = connectTls({
    ...{ port, host: "127.0.0.1", ca: authority.cert, ALPNProtocols: protocols },
  });
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, "secureConnect");
  return socket;
}
