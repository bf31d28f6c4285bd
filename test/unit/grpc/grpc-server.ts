/** A gRPC server on a free port, with a fake pipeline behind it, and raw connections to it. */

import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
} from "node:http2";
import { connect } from "node:net";
import { create, type Message } from "@bufbuild/protobuf";
import { expect, onTestFinished } from "vitest";
import {
  type GetOverviewResponse,
  GetOverviewResponseSchema,
  RevenueService,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { createGrpcServer, type GrpcOptions } from "../../../src/grpc/server.ts";
import { createAddresses } from "../../../src/net/address.ts";
import type { IncomingCall } from "../../../src/rpc/call.ts";
import {
  framesIn,
  grpcMessage,
  PREFACE,
  SETTINGS,
  SETTINGS_ACK,
} from "../../support/clients/http2-frames.ts";
import { createPipeline } from "../gateway/gateway.ts";

/** The path of an RPC of RevenueService. */
export const OVERVIEW = "/revenue.v1.RevenueService/GetOverview";
/** The path of a health watch. */
export const WATCH = "/grpc.health.v1.Health/Watch";
/** The path of server reflection. */
export const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
/** An empty request message. */
export const EMPTY = grpcMessage(Buffer.alloc(0));
/** A reflection request for the list of services (field 7). */
export const QUESTION = grpcMessage(Buffer.from([0x3a, 0]));
/** A response without figures. */
export const emptyResponse: GetOverviewResponse = create(GetOverviewResponseSchema);
/** Responds with so many bytes. */
export const respondWith = (size: number) => async (): Promise<GetOverviewResponse> =>
  create(GetOverviewResponseSchema, { monthlyEarnings: [{ month: "x".repeat(size) }] });

/**
 * Serves RevenueService until the end of the test. Returns the server, the calls that reached the pipeline, and
 * the events that it reported.
 *
 * @param respond runs a call; by default it returns an empty response
 */
export async function listen(
  options: GrpcOptions = {},
  respond: (call: IncomingCall) => Promise<Message> = async () => emptyResponse,
) {
  const { rpc, calls } = createPipeline(async (call) => {
    expect(call.request()).toHaveProperty("$typeName", call.method.input.typeName);
    return respond(call);
  });
  const reports: [event: string, fields?: object][] = [];
  const report = (...parts: [event: string, fields?: object]) => void reports.push(parts);
  const parts = { report, ...options };
  const server = createGrpcServer([RevenueService], rpc, createAddresses(["127.0.0.1"]), parts);
  const port = await server.listen("127.0.0.1", 0);
  onTestFinished(() => server.stop(0));
  return { server, port, calls, reports };
}

/** An HTTP/2 client session that lasts until the end of the test. */
export function openSession(port: number, settings: { initialWindowSize?: number } = {}) {
  const session = connectHttp2(`http://127.0.0.1:${port}`, { settings });
  session.on("error", () => {});
  onTestFinished(() => session.destroy());
  return session;
}

/** Opens a gRPC stream and sends its headers. */
export function openStream(
  session: ClientHttp2Session,
  path = OVERVIEW,
  headers: Readonly<Record<string, string>> = {},
): ClientHttp2Stream {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  stream.on("error", () => {});
  return stream;
}

/** The gRPC status of a stream ("8 too many …"), or "closed" if it ends without one. */
export function statusOf(stream: ClientHttp2Stream): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const read = (headers: Readonly<Record<string, unknown>>) => {
    const code = headers["grpc-status"];
    if (code === undefined) return;
    resolve(`${code} ${decodeURIComponent(`${headers["grpc-message"] ?? ""}`)}`.trim());
  };
  stream.on("response", read).on("trailers", read).resume();
  stream.once("close", () => resolve("closed"));
  return promise;
}

/** Makes a call with an empty message. Resolves to its status. */
export function call(session: ClientHttp2Session, path = OVERVIEW): Promise<string> {
  const stream = openStream(session, path);
  stream.end(EMPTY);
  return statusOf(stream);
}

/** Resolves when the server has handled everything that was sent before, and has had a turn since. */
export async function roundTrip(session: ClientHttp2Session): Promise<void> {
  await new Promise<void>((resolve) => void session.ping(() => resolve()));
}

/** What an HTTP/2 client sends first. */
export const BEGIN = Buffer.concat([PREFACE, SETTINGS, SETTINGS_ACK]);

/** A TCP connection, and the frames that it got, until the end of the test. */
export function openSocket(port: number) {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  onTestFinished(() => void socket.destroy());
  let received = Buffer.alloc(0);
  socket.on("data", (data: Buffer) => {
    received = Buffer.concat([received, data]);
  });
  const closed = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  socket.on("error", () => {});
  return { socket, closed, frames: () => framesIn(received) };
}
