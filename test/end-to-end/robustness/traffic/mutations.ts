/** Random changes of valid bytes, whose results are perhaps not valid. */
import { FRAME_HEADER, frame, PREFACE } from "../../../../dev/http2-frame.ts";
import type { Random } from "../../../../dev/random.ts";

/** Changes a copy of the bytes. `other` is a second valid input. */
type Mutation = (bytes: Buffer, random: Random, other: Buffer) => Buffer;

/** What bytes are made of. */
interface Format {
  /** The parts, whose concatenation is the bytes. */
  parts(bytes: Buffer): Buffer[];
  /** A part that may change the meaning of the others, or has none. */
  strange(random: Random): Buffer;
}

const flipBit: Mutation = (bytes, random) => {
  const flipped = Buffer.from(bytes);
  const at = random.integer(0, bytes.length);
  flipped[at] = (flipped[at] ?? 0) ^ (1 << random.integer(0, 8));
  return flipped;
};

/** Big-endian, as the lengths of HTTP/2 and gRPC are. */
const EXTREME = ["ffffffff", "7fffffff", "80000000", "00000000", "ffffff", "00ffff"] as const;

/** Replaces some bytes, or none, by others. */
const replaceBytes: Mutation = (bytes, random, other) => {
  const start = random.integer(0, bytes.length + 1);
  const copied = random.integer(0, other.length + 1);
  const piece = random.pick([
    Buffer.alloc(0),
    random.bytes(1 + random.integer(0, 8)),
    Buffer.from(random.pick(EXTREME), "hex"),
    other.subarray(copied, copied + random.integer(0, 64)),
  ]);
  const end = start + random.pick([0, piece.length, random.integer(0, 16)]);
  return Buffer.concat([bytes.subarray(0, start), piece, bytes.subarray(end)]);
};

/** Ends the bytes early, or as another input ends. */
const cut: Mutation = (bytes, random, other) => {
  const end = random.pick([other.length, random.integer(0, other.length + 1)]);
  return Buffer.concat([
    bytes.subarray(0, random.integer(0, bytes.length + 1)),
    other.subarray(end),
  ]);
};

/** Drops, repeats, moves, inserts or replaces a part. */
function changeParts({ parts, strange }: Format): Mutation {
  return (bytes, random) => {
    const changed = parts(bytes);
    // The first part, such as the request line, matters most.
    const at = random.pick([0, random.integer(0, changed.length)]);
    const to = random.integer(0, changed.length);
    const [part = bytes] = changed.slice(at, at + 1);
    random.pick([
      () => changed.splice(at, 1),
      () => changed.splice(at, 0, ...Array<Buffer>(random.integer(0, 20)).fill(part)),
      () => changed.splice(to, 0, ...changed.splice(at, 1)),
      () => changed.splice(to + 1, 0, strange(random)),
      () => changed.splice(at, 1, strange(random)),
    ])();
    return Buffer.concat(changed);
  };
}

const METHODS = ["OPTIONS", "PUT", "POST", "GET", "HEAD", "CONNECT", "PRI", "get"] as const;
const TARGETS = [
  "*",
  "//",
  "/%zz",
  "/%00",
  "http://a/b",
  "http://[",
  "/?",
  "/#",
  "a:1",
  "/api/provider/revenue?a=%",
  "/api/provider/revenue/servers?startDate=%ff",
] as const;
/** Header lines that change the meaning of a request, or are not valid. */
const HEADERS = [
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: gzip, chunked",
  "Content-Length: 5",
  "Content-Length: -1",
  "Expect: 100-continue",
  "Expect: wonders",
  "Connection: close",
  "Connection: upgrade",
  "Upgrade: h2c",
  "Upgrade: websocket",
  "HTTP2-Config: AAMAAABk",
  "Host: ",
  "Host: [::",
  "Host: a b",
  "Content-Encoding: gzip",
  "Content-Encoding: br",
  "Content-Encoding: nonsense",
  "Accept-Encoding: gzip",
  "Accept-Encoding: gzip;q=x, *",
  "Content-Type: application/json",
  "Content-Type: application/proto",
  "Content-Type: ,",
  "Content-Type: application/grpc",
  "Content-Type: application/grpc-web-text",
  "Content-Type: application/connect+json",
  "Connect-Protocol-Version: 9",
  "Connect-Timeout-Ms: -1",
  "Connect-Timeout-Ms: 1",
  "Connect-Timeout-Ms: 99999999999",
  "Grpc-Timeout: 1n",
  "Grpc-Timeout: 99999999999H",
  "Grpc-Encoding: gzip",
  "X-Request-Id: \0",
  "Connect-Content-Encoding: gzip",
  "Connect-Accept-Encoding: nonsense",
  "X: \r\n folded",
  "Authorization: Bearer x",
  "X-Api-Key: x",
  "a b: c",
  ": empty",
  "\xff\xfe: \xff",
] as const;

/** The lines of HTTP/1.1, those of a body too. */
const LINES: Format = {
  parts: (bytes) =>
    latin1(bytes)
      .split(/(?<=\r\n)/)
      .map((line) => Buffer.from(line, "latin1")),
  strange(random) {
    const line = `${random.pick(METHODS)} ${random.pick(TARGETS)} HTTP/1.1`;
    return Buffer.from(`${random.pick([line, ...HEADERS])}\r\n`, "latin1");
  },
};

const NUMBERS = [
  "0",
  "-1",
  "1",
  "1e9",
  "0x10",
  "NaN",
  "65537",
  "2147483648",
  "4294967296",
  "99999999999999999999",
  "1.5",
  "",
  " ",
  "00000000000000001",
] as const;

/** Replaces a number that is written in digits. */
const otherNumber: Mutation = (bytes, random) => {
  const text = latin1(bytes).split(/(\d+)/);
  text[1 + 2 * random.integer(0, (text.length - 1) / 2)] = random.pick(NUMBERS);
  return Buffer.from(text.join(""), "latin1");
};

/** The frames of HTTP/2 (RFC 9113, section 4.1), after the client preface. The last may be incomplete. */
const FRAMES: Format = {
  parts(bytes) {
    const parts = [bytes.subarray(0, PREFACE.length)];
    for (let at = PREFACE.length; at < bytes.length; ) {
      const isHeader = at + FRAME_HEADER <= bytes.length;
      const end = isHeader ? at + FRAME_HEADER + bytes.readUIntBE(at, 3) : bytes.length;
      parts.push(bytes.subarray(at, end));
      at = end;
    }
    return parts;
  },
  strange(random) {
    // DATA to CONTINUATION, and two unknown types.
    const type = random.pick([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255]);
    // END_STREAM or ACK, END_HEADERS, PADDED, PRIORITY.
    const flags = random.pick([0, 1, 4, 5, 8, 0x20, 0x2d, 0xff]);
    const stream = random.pick([0, 1, 2, 3, 5, 7, 101, 0x7fffffff, 0xffffffff]);
    return frame(type, flags, stream, random.bytes(random.pick([0, 1, 4, 5, 6, 8, 12, 40])));
  },
};

const BYTES = [flipBit, replaceBytes, replaceBytes, cut] as const;

/** Mutations of any bytes, of HTTP/1.1 and of HTTP/2. */
export const MUTATIONS = {
  bytes: BYTES,
  http: [...BYTES, otherNumber, changeParts(LINES), changeParts(LINES), changeParts(LINES)],
  grpc: [...BYTES, changeParts(FRAMES), changeParts(FRAMES)],
} as const;

/** Applies one to three of the mutations in turn. */
export function mutate(
  mutations: readonly Mutation[],
  bytes: Buffer,
  random: Random,
  other: Buffer = bytes,
): Buffer {
  let mutant = bytes;
  for (let left = 1 + random.integer(0, 3); left > 0 && mutant.length > 0; left--) {
    mutant = random.pick(mutations)(mutant, random, other);
  }
  return mutant;
}

function latin1(bytes: Buffer): string {
  return bytes.toString("latin1");
}
