/** A gateway with TLS, and clients of it. */
import { once } from "node:events";
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from "node:http2";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { Message } from "@bufbuild/protobuf";
import { onTestFinished } from "vitest";
import { RevenueService } from "../../../../gen/revenue/v1/revenue_pb.ts";
import { readCertificates } from "../../../../src/config/certificates.ts";
import { ServiceError } from "../../../../src/errors.ts";
import type { GatewayParts } from "../../../../src/gateway/server.ts";
import { createSessions } from "../../../../src/grpc/sessions/http2-sessions.ts";
import { SESSION_LIMITS, type SessionLimits } from "../../../../src/grpc/sessions/limits.ts";
import type { IncomingCall } from "../../../../src/rpc/call.ts";
import { watchCertificates } from "../../../../src/tls/certificate-watch.ts";
import { createTermination } from "../../../../src/tls/termination.ts";
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
  readonly sessions?: Partial<SessionLimits>;
  readonly handshakeTimeout?: number;
}

/** A gateway with TLS until the end of the test. */
export async function listenTls(
  { sessions = {}, handshakeTimeout = 10_000, ...parts }: Options = {},
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
  const tls = createTermination({
    ...{ certificates, handshakeTimeout, report, protocols: ["h2", "http/1.1"] },
  });
  const gateway = await listen(RevenueService, handle, authenticate, {
    createSessions: (rules) =>
      createSessions({
        ...{
          limits: { ...SESSION_LIMITS, ...sessions },
          admitConnection: () => true,
          report,
          rules,
        },
      }),
    ...{ tls, report },
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

/** An HTTP/2 session until the end of the test. */
export function openHttp2(url: string): ClientHttp2Session {
  const session = connect(url, { ca: authority.cert });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** A response over HTTP/2. */
export interface Http2Response {
  /** 0 if the stream was closed without a response. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The code with which the stream was closed. */
  readonly code: number;
}

/** Sends a request, and the body if there is one; without `end`, the request stays incomplete. */
export async function send(
  session: ClientHttp2Session,
  headers: Readonly<Record<string, string>>,
  body?: string | Uint8Array,
  end = true,
): Promise<Http2Response> {
  const stream = session.request(headers, { endStream: body === undefined && end });
  stream.on("error", () => {});
  const closed = new Promise((resolve) => stream.once("close", resolve));
  let response: IncomingHttpHeaders = {};
  let text = "";
  stream.on("response", (received) => {
    response = received;
  });
  stream.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  if (body !== undefined) stream.write(body);
  if (end) stream.end();
  await closed;
  return {
    status: Number(response[":status"] ?? 0),
    headers: response,
    body: text,
    code: stream.rstCode,
  };
}
