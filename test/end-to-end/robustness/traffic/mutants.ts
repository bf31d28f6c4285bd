/** The families of mutants: randomly changed requests of each protocol. */
import { connect, type IncomingHttpHeaders } from "node:http2";
import { deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { grpcMessage as frame } from "../../../support/clients/http2-frames.ts";
import { attack, type Ending } from "./connections.ts";
import { BODIES, EXCHANGES, type Exchange, GRPC_CALLS, post, textFields } from "./exchanges.ts";
import { mutantsOf, strangeHeader } from "./mutations.ts";
import { KEY } from "./target.ts";

/** A request that is perhaps not valid. */
export interface Mutant {
  /** What it sends, for error messages. */
  readonly description: string;
  /** Sends it. Resolves to the part of the response that reports an internal error, if any. */
  send(port: (protocol: "http" | "grpc") => number): Promise<string | undefined>;
}

/** INTERNAL and UNKNOWN, which a client must not be able to cause, in the protocols of the HTTP port. */
const INTERNAL_ERROR = /HTTP\/1\.1 500|grpc-status: ?(?:2|13)\r|"code":"(?:internal|unknown)"/;
/** The same in gRPC. */
const GRPC_INTERNAL_ERROR = /^(?:2 |13 (?!Error deserializing request|Invalid grpc-timeout value))/;
/** How long to wait for a response, in ms: some of the streams never end. */
const TIMEOUT = 150;

/** The client breaks off at once, a moment later, by a half-close, or at the response. */
const brokenEnding: fc.Arbitrary<Ending> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("reset"), after: fc.nat(30) }) },
  fc.constantFrom<Ending>({ kind: "end" }, { kind: "reset at the response" }),
);
/** Usually the client waits for the response. */
const ending: fc.Arbitrary<Ending> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: "listen", first: TIMEOUT, silence: 40 }) },
  brokenEnding,
);

function bytesMutant(protocol: "http" | "grpc", bytes: Buffer, ending: Ending): Mutant {
  const text = protocol === "http" ? JSON.stringify(bytes.toString("latin1")) : "";
  return {
    description: `${JSON.stringify(ending)} ${text || bytes.toString("hex")}`,
    async send(port) {
      const response = await attack(port(protocol), bytes, ending);
      if (protocol === "grpc") return undefined;
      return INTERNAL_ERROR.exec(response.toString("latin1"))?.[0];
    },
  };
}

/** Valid connections, mutated. */
function connectionMutants(protocol: Exchange["protocol"]): fc.Arbitrary<Mutant> {
  const inputs = EXCHANGES.filter((one) => one.protocol === protocol).map(({ bytes }) => bytes);
  return fc
    .tuple(mutantsOf(protocol, fc.constantFrom(...inputs)), ending)
    .map(([bytes, ending]) => bytesMutant(protocol, bytes, ending));
}

const brokenConnections = fc
  .tuple(fc.constantFrom(...EXCHANGES), fc.option(fc.nat(), { freq: 2 }), brokenEnding)
  .map(([{ protocol, bytes }, length, ending]) =>
    bytesMutant(protocol, bytes.subarray(0, (length ?? bytes.length) % (bytes.length + 1)), ending),
  );

const messages = fc
  .constantFrom(...BODIES)
  .chain(([type, body]) =>
    fc.tuple(mutantsOf("bytes", fc.constant(body)), ending, fc.constant(type)),
  )
  .map(([body, ending, type]) => bytesMutant("http", post(type, body), ending));

const CODINGS = { identity: Buffer.from, gzip: gzipSync, deflate: deflateSync } as const;

/** gRPC calls over valid HTTP/2 with mutated metadata, framing or message. */
const grpcMessages = fc
  .tuple(
    fc.constantFrom(...GRPC_CALLS),
    fc.constantFrom<(keyof typeof CODINGS)[]>(
      "identity",
      "identity",
      "identity",
      "gzip",
      "deflate",
    ),
    // Those that HTTP/2 may carry.
    fc.option(
      strangeHeader.filter(([name]) => /^(grpc|connect-|any|content-|user|x-)/i.test(name)),
    ),
    fc.nat(255),
  )
  .chain(([[path, message], coding, header, flags]) => {
    const compress = CODINGS[coding];
    const flag = coding === "identity" ? 0 : 1;
    const valid = frame(compress(message), flag);
    const longer = Buffer.concat([message, textFields({ 9: "more" })]);
    const mutated = (bytes: Buffer) => mutantsOf("bytes", fc.constant(bytes));
    const body = fc.oneof(
      mutated(longer).map((more) => frame(compress(more), flag)),
      mutated(compress(message)).map((bytes) => frame(bytes, flag)),
      mutated(longer).map((more) => frame(more, flags)),
      mutated(valid),
      mutated(longer).map((more) => Buffer.concat([valid, frame(more)])),
      fc.constant(Buffer.alloc(0)),
    );
    const headers = {
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      "x-api-key": KEY,
      ...(flag === 1 && { "grpc-encoding": coding }),
      ...(header && { [header[0].toLowerCase()]: header[1] }),
    };
    return body.map((body) => grpcMutant(headers, body));
  });

function grpcMutant(headers: Readonly<Record<string, string>>, body: Buffer): Mutant {
  return {
    description: `${JSON.stringify(headers)} ${body.toString("hex")}`,
    send(port) {
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      let status = "";
      const read = (head: IncomingHttpHeaders) => {
        const code = head["grpc-status"];
        if (code !== undefined) status = `${code} ${decodeURIComponent(`${head["grpc-message"]}`)}`;
      };
      const session = connect(`http://127.0.0.1:${port("grpc")}`).on("error", () => {});
      const timer = setTimeout(() => session.destroy(), TIMEOUT);
      session.once("close", () => {
        clearTimeout(timer);
        resolve(GRPC_INTERNAL_ERROR.test(status) ? status : undefined);
      });
      const stream = session.request(headers).on("error", () => {});
      stream.on("response", read).on("trailers", read).resume();
      stream.once("close", () => session.destroy());
      stream.end(body);
      return promise;
    },
  };
}

/** The families, by name. */
export const FAMILIES: Readonly<Record<string, fc.Arbitrary<Mutant>>> = {
  "HTTP/1.1": connectionMutants("http"),
  "HTTP/2": connectionMutants("grpc"),
  "connections that break off": brokenConnections,
  "Connect and gRPC-Web messages": messages,
  "gRPC messages": grpcMessages,
};
