/** gRPC calls over valid HTTP/2 with mutated metadata, framing or message. */
import { connect, type IncomingHttpHeaders } from "node:http2";
import { deflateSync, gzipSync } from "node:zlib";
import type { Random } from "../../../../dev/random.ts";
import { frame } from "../../../support/clients/raw-clients.ts";
import { textFields } from "./exchanges.ts";
import { MUTATIONS, mutate } from "./mutations.ts";
import { KEY } from "./target.ts";

/** How long to wait for a response by default, in milliseconds: some of the streams never end. */
const TIMEOUT = 150;

/** A call: its path, its metadata and the bytes of its body. */
export interface GrpcMutant {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const NAME = "revenue.v1.RevenueService";
const METHODS = [
  [`/${NAME}/GetOverview`, Buffer.alloc(0)],
  [`/${NAME}/GetServerBreakdown`, textFields({ 1: "2024-03-01", 2: "2024-03-31" })],
  ["/grpc.health.v1.Health/Check", textFields({ 1: NAME })],
  ["/grpc.health.v1.Health/Watch", textFields({ 1: NAME })],
  ["/grpc.health.v1.Health/List", Buffer.alloc(0)],
  ["/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", textFields({ 4: NAME })],
  ["/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", textFields({ 7: "*" })],
] as const satisfies readonly (readonly [string, Uint8Array])[];

const UNUSUAL_HEADERS = [
  ["content-type", "application/grpc+json"],
  ["content-type", "text/plain"],
  ["grpc-timeout", "1n"],
  ["grpc-timeout", "99999999H"],
  ["grpc-timeout", "999999999999H"],
  ["grpc-timeout", "-1S"],
  ["grpc-timeout", "x"],
  ["grpc-encoding", "gzip"],
  ["grpc-encoding", "deflate"],
  ["grpc-encoding", "nonsense"],
  ["grpc-accept-encoding", "gzip"],
  ["grpc-accept-encoding", ",,;"],
  ["any-bin", "%%%"],
  ["any-bin", "AAAA,BBBB"],
  ["x-api-key", "x"],
  ["x-request-id", "\u007f"],
  ["content-length", "1"],
  ["grpc-message-type", "x"],
  ["user-agent", ""],
] as const;

/** Creates a mutant of a random call. */
export function grpcMutant(random: Random): GrpcMutant {
  const [path, message] = random.pick(METHODS);
  const encoding = random.pick(["identity", "identity", "identity", "gzip", "deflate"] as const);
  const headers: Record<string, string> = {
    "content-type": "application/grpc",
    te: "trailers",
    "x-api-key": KEY,
    ...(encoding === "identity" ? {} : { "grpc-encoding": encoding }),
  };
  const [name, value] = random.pick(UNUSUAL_HEADERS);
  if (random.integer(0, 3) === 0) headers[name] = value;
  const mutated = (bytes: Buffer) => mutate(MUTATIONS.bytes, bytes, random);
  const compress = { identity: Buffer.from, gzip: gzipSync, deflate: deflateSync }[encoding];
  const valid = frame(compress(message), encoding === "identity" ? 0 : 1);
  const more = mutated(Buffer.concat([message, textFields({ 9: "more" })]));
  const body = random.pick([
    frame(compress(more), valid[0]),
    frame(mutated(compress(message)), valid[0]),
    frame(more, random.integer(0, 256)),
    mutated(valid),
    Buffer.concat([valid, frame(more)]),
    Buffer.alloc(0),
  ]);
  return { path, headers, body };
}

/** Makes the call. Resolves to its status (`13 details`), or to undefined if none arrives in time. */
export function callMutant(
  port: number,
  { path, headers, body }: GrpcMutant,
  timeout = TIMEOUT,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  let status: string | undefined;
  const read = (head: IncomingHttpHeaders) => {
    const code = head["grpc-status"];
    if (code !== undefined) status = `${code} ${decodeURIComponent(`${head["grpc-message"]}`)}`;
  };
  const session = connect(`http://127.0.0.1:${port}`).on("error", () => {});
  const timer = setTimeout(() => session.destroy(), timeout);
  session.once("close", () => {
    clearTimeout(timer);
    resolve(status);
  });
  const stream = session.request({ ":method": "POST", ":path": path, ...headers });
  stream.on("error", () => {});
  stream.on("response", read).on("trailers", read).resume();
  stream.once("close", () => session.destroy());
  stream.end(body);
  return promise;
}
