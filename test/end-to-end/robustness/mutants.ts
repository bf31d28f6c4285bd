/** The families of mutants: randomly changed requests of each protocol, and connections that break off. */
import { connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { connect } from "node:net";
import { deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { frame, grpcMessage } from "../../support/clients/http2-frames.ts";
import {
  BODIES,
  EXCHANGES,
  GRPC_CALLS,
  KEY,
  type Protocol,
  post,
  textFields,
} from "./exchanges.ts";

/** A request that is perhaps not valid. */
export interface Mutant {
  /** What it sends, for error messages. */
  readonly description: string;
  /** Sends it. Resolves to the part of the response that reports an internal error, if any. */
  send(port: (protocol: Protocol) => number): Promise<string | undefined>;
}

/** Our own internal error, which a client must not be able to cause. Connect-ES has one for some broken messages. */
const INTERNAL_ERROR = /an(?: |%20)error(?: |%20)occurred/i;
/** INTERNAL and UNKNOWN in gRPC. */
const GRPC_INTERNAL_ERROR = /^(?:2 |13 (?!Error deserializing request|Invalid grpc-timeout value))/;

/** How a client ends its connection after it has sent its bytes. */
interface Ending {
  /** It sends no more, and may read until the service closes, too. */
  readonly halfClose?: boolean;
  /** It resets when nothing has arrived for so long, in ms; 0 is at once. Some streams never end. */
  readonly patience: number;
  /** It resets when the response is this; never by default. */
  readonly isEnough?: (response: string) => boolean;
}

/**
 * Connects to a local port, sends bytes and ends the connection. Resolves to the received bytes when
 * the connection is closed. It never rejects: the connection may fail in any way.
 */
export function attack(port: number, bytes: Uint8Array, ending: Ending): Promise<Buffer> {
  const { halfClose = false, patience, isEnough = () => false } = ending;
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  let received = Buffer.alloc(0);
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  const timer = setTimeout(() => socket.resetAndDestroy(), patience);
  socket.once("connect", () => {
    socket.write(bytes);
    if (halfClose) socket.end();
    timer.refresh();
  });
  socket.on("error", () => {}).on("end", () => socket.end());
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    timer.refresh();
    if (isEnough(received.toString("latin1"))) socket.resetAndDestroy();
  });
  socket.on("close", () => {
    clearTimeout(timer);
    resolve(received);
  });
  return promise;
}

/** Usually the client waits for the response. */
const endings: fc.Arbitrary<Ending> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ patience: 150 }) },
  fc.record({ patience: fc.nat(30) }),
  fc.constant({ patience: 1_000, halfClose: true }),
  fc.constant({ patience: 1_000, isEnough: () => true }),
);

/** A place in a list or in bytes, by its remainder. The first part, such as the request line, matters most. */
const place = fc.oneof(
  { weight: 1, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.nat() },
);
/** How much is replaced: mostly little, now and then all that follows. */
const length = fc.oneof({ weight: 9, arbitrary: fc.nat(2) }, { weight: 1, arbitrary: fc.nat() });
/** Replaces some at a place by others. */
const edit = <T>(by: fc.Arbitrary<T>) => fc.tuple(place, length, by);

/** Numbers, as the lengths of HTTP/2 and gRPC are, and as text. */
const NUMBERS = [
  ...["ffffffff", "7fffffff", "80000000", "00000000", "ffffff"].map((hex) =>
    Buffer.from(hex, "hex"),
  ),
  ...["-1", "1e9", "0x10", "65537", "4294967296", "99999999999999999999", "1.5", ","].map((text) =>
    Buffer.from(text),
  ),
];
const ofBytes = edit(fc.oneof(fc.uint8Array({ maxLength: 8 }), fc.constantFrom(...NUMBERS)));

/** Changes parts, and then the bytes of what is left. `strange` are parts that may change the meaning of others. */
function mutantsOf(
  parts: readonly Uint8Array[],
  strange: fc.Arbitrary<Uint8Array> = fc.uint8Array({ maxLength: 40 }),
): fc.Arbitrary<Buffer> {
  const part = fc.oneof({ weight: 2, arbitrary: strange }, fc.constantFrom(...parts));
  const repeated = fc.tuple(part, fc.nat(20)).map(([one, times]) => Array(times).fill(one));
  const ofParts = edit(fc.oneof(fc.array(part, { maxLength: 2 }), repeated));
  return fc
    .tuple(fc.array(ofParts, { maxLength: 2 }), fc.array(ofBytes, { maxLength: 2 }))
    .filter(([changes, edits]) => changes.length + edits.length > 0)
    .map(([changes, edits]) => {
      const list = [...parts];
      for (const [at, length, by] of changes) list.splice(at % (list.length + 1), length, ...by);
      let bytes = Buffer.concat(list);
      for (const [at, length, by] of edits) {
        const start = at % (bytes.length + 1);
        bytes = Buffer.concat([bytes.subarray(0, start), by, bytes.subarray(start + length)]);
      }
      return bytes;
    });
}

/** Headers that change the meaning of a request, or are not valid. */
const STRANGE: Readonly<Record<string, readonly string[]>> = {
  "Transfer-Encoding": ["chunked", "gzip, chunked"],
  "Content-Length": ["5", "-1"],
  Expect: ["100-continue", "wonders"],
  Connection: ["close", "upgrade"],
  Upgrade: ["h2c", "websocket"],
  Host: ["", "[::", "a b"],
  "Content-Encoding": ["gzip", "br", "nonsense"],
  "Accept-Encoding": ["gzip", "gzip;q=x, *"],
  "Content-Type": ["application/json", "application/proto", ",", "application/grpc"],
  "content-type": [
    "application/grpc+json",
    "application/grpc-web-text",
    "application/connect+json",
  ],
  "Connect-Protocol-Version": ["9"],
  "Connect-Timeout-Ms": ["-1", "1", "99999999999"],
  "Connect-Content-Encoding": ["gzip"],
  "Connect-Accept-Encoding": ["nonsense"],
  "Grpc-Timeout": ["1n", "99999999H", "99999999999H", "-1S", "x"],
  "Grpc-Encoding": ["gzip", "deflate", "nonsense"],
  "Grpc-Accept-Encoding": ["gzip", ",,;"],
  "Any-Bin": ["%%%", "AAAA,BBBB"],
  "X-Request-Id": ["\u007f", "\0"],
  Authorization: ["Bearer x"],
  X: ["\r\n folded"],
  "a b": ["c"],
  "": ["empty"],
  "\xff\xfe": ["\xff"],
};
const strangeHeader = fc.constantFrom(
  ...Object.entries(STRANGE).flatMap(([name, values]) =>
    values.map((value): [string, string] => [name, value]),
  ),
);

const METHODS = ["OPTIONS", "PUT", "POST", "GET", "HEAD", "CONNECT", "PRI", "DESCRIBE", "get"];
const TARGETS = [
  "*",
  "//",
  "/%zz",
  "/%00",
  "http://a/b",
  "http://[",
  "a:1",
  "/api/provider/revenue?a=%",
];
const strangeLine = fc
  .oneof(
    { weight: 9, arbitrary: strangeHeader.map(([name, value]) => `${name}: ${value}`) },
    fc
      .tuple(
        fc.constantFrom(...METHODS),
        fc.constantFrom(...TARGETS),
        fc.constantFrom(" HTTP/1.1", ""),
      )
      .map(([method, target, version]) => `${method} ${target}${version}`),
  )
  .map((line) => Buffer.from(`${line}\r\n`, "latin1"));

/** Frames of all types and two unknown ones, with any flags, on streams that there are and others. */
const strangeFrame = fc
  .tuple(
    fc.oneof(fc.nat(10), fc.constant(255)),
    fc.constantFrom(0, 1, 4, 5, 8, 0x20, 0x2d, 0xff),
    fc.constantFrom(0, 1, 2, 3, 5, 7, 101, 0x7fffffff, 0xffffffff),
    fc.uint8Array({ maxLength: 40 }),
  )
  .map((parts) => frame(...parts));

function bytesMutant(protocol: Protocol, bytes: Buffer, ending: Ending): Mutant {
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
function connections(protocol: Protocol, strange: fc.Arbitrary<Buffer>) {
  const mutants = EXCHANGES.filter((one) => one.protocol === protocol).map(({ parts }) =>
    mutantsOf(parts, strange),
  );
  return fc
    .tuple(fc.oneof(...mutants), endings)
    .map(([bytes, ending]) => bytesMutant(protocol, bytes, ending));
}

const messages = fc
  .tuple(
    fc.oneof(...BODIES.map(([type, body]) => mutantsOf([body]).map((body) => post(type, body)))),
    endings,
  )
  .map(([bytes, ending]) => bytesMutant("http", bytes, ending));

const CODINGS = { identity: Buffer.from, gzip: gzipSync, deflate: deflateSync } as const;

/** gRPC calls over valid HTTP/2 with mutated metadata, framing or message. */
const grpcMessages = fc
  .tuple(
    fc.constantFrom(...GRPC_CALLS),
    fc.constantFrom<(keyof typeof CODINGS)[]>("identity", "identity", "gzip", "deflate"),
    // Those that HTTP/2 may carry.
    fc.option(strangeHeader.filter(([name]) => /^(grpc|connect-|any|content-|x-)/i.test(name))),
    fc.nat(255),
  )
  .chain(([[path, message], coding, header, flags]) => {
    const flag = coding === "identity" ? 0 : 1;
    const compress = CODINGS[coding];
    const framed = grpcMessage(compress(message), flag);
    const mutated = mutantsOf([message, textFields({ 9: "more" })]);
    const body = fc.oneof(
      mutated.map((more) => grpcMessage(compress(more), flag)),
      mutated.map((more) => grpcMessage(more, flags)),
      mutated.map((more) => Buffer.concat([framed, grpcMessage(more)])),
      mutantsOf([framed]),
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
      const session = connectHttp2(`http://127.0.0.1:${port("grpc")}`).on("error", () => {});
      const timer = setTimeout(() => session.destroy(), 150);
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
  "HTTP/1.1": connections("http", strangeLine),
  "HTTP/2": connections("grpc", strangeFrame),
  "Connect and gRPC-Web messages": messages,
  "gRPC messages": grpcMessages,
};
