/** Random changes of valid bytes, whose results are perhaps not valid. */
import fc from "fast-check";
import { FRAME_HEADER, frame, PREFACE } from "../../../../dev/http2-frame.ts";

/** Changes bytes. `other` is a second valid input. */
type Mutation = (bytes: Buffer, other: Buffer) => Buffer;
type Mutations = fc.Arbitrary<Mutation>;

/** A place in bytes or in a list, by its remainder. */
const place = fc.nat();
const bytesOf = (...lengths: readonly number[]) =>
  fc
    .oneof(...lengths.map((length) => fc.uint8Array({ minLength: length, maxLength: length })))
    .map((array) => Buffer.from(array));

const flipBit: Mutations = fc.tuple(place, fc.nat(7)).map(([at, bit]) => (bytes) => {
  const flipped = Buffer.from(bytes);
  const index = at % bytes.length;
  flipped[index] = (flipped[index] ?? 0) ^ (1 << bit);
  return flipped;
});

/** Big-endian, as the lengths of HTTP/2 and gRPC are. */
const EXTREME = ["ffffffff", "7fffffff", "80000000", "00000000", "ffffff", "00ffff"];

/** Replaces some bytes, or none, by others: random ones, or so many of the other input. */
const replaceBytes: Mutations = fc
  .tuple(
    place,
    fc.oneof(
      bytesOf(0),
      bytesOf(1, 2, 4, 8),
      fc.constantFrom(...EXTREME).map((hex) => Buffer.from(hex, "hex")),
      fc.tuple(place, fc.nat(63)),
    ),
    fc.option(fc.oneof(fc.constant(0), fc.nat(15))),
  )
  .map(([at, by, length]) => (bytes, other) => {
    const start = at % (bytes.length + 1);
    const from = Buffer.isBuffer(by) ? 0 : by[0] % (other.length + 1);
    const piece = Buffer.isBuffer(by) ? by : other.subarray(from, from + by[1]);
    const rest = bytes.subarray(start + (length ?? piece.length));
    return Buffer.concat([bytes.subarray(0, start), piece, rest]);
  });

/** Ends the bytes early, or as another input ends. */
const cut: Mutations = fc.tuple(place, fc.option(place)).map(([at, from]) => (bytes, other) => {
  const end = from === null ? other.length : from % (other.length + 1);
  return Buffer.concat([bytes.subarray(0, at % (bytes.length + 1)), other.subarray(end)]);
});

/** Drops, repeats, moves, inserts or replaces a part; `strange` are such as may change the meaning of the others. */
function changePart(split: (bytes: Buffer) => Buffer[], strange: fc.Arbitrary<Buffer>): Mutations {
  const change = fc.constantFrom("drop", "repeat", "move", "insert", "replace");
  // The first part, such as the request line, matters most.
  const first = fc.oneof(fc.constant(0), place);
  return fc
    .tuple(change, first, place, fc.nat(20), strange)
    .map(([kind, one, two, times, part]) => {
      return (bytes) => {
        const parts = split(bytes);
        const [at, to] = [one % parts.length, two % parts.length];
        const copies = Array<Buffer>(times).fill(parts[at] ?? bytes);
        if (kind === "repeat") parts.splice(at, 0, ...copies);
        if (kind === "drop") parts.splice(at, 1);
        if (kind === "move") parts.splice(to, 0, ...parts.splice(at, 1));
        if (kind === "insert") parts.splice(to + 1, 0, part);
        if (kind === "replace") parts.splice(at, 1, part);
        return Buffer.concat(parts);
      };
    });
}

const METHODS = ["OPTIONS", "PUT", "POST", "GET", "HEAD", "CONNECT", "PRI", "get"];
const TARGETS =
  "* // /%zz /%00 http://a/b http://[ /? /# a:1 /api/provider/revenue?a=% /api/provider/revenue/servers?startDate=%ff";
/** Headers that change the meaning of a request, or are not valid. */
const STRANGE: Readonly<Record<string, readonly string[]>> = {
  "Transfer-Encoding": ["chunked", "gzip, chunked"],
  "Content-Length": ["5", "-1"],
  Expect: ["100-continue", "wonders"],
  Connection: ["close", "upgrade"],
  Upgrade: ["h2c", "websocket"],
  "HTTP2-Config": ["AAMAAABk"],
  Host: ["", "[::", "a b"],
  "Content-Encoding": ["gzip", "br", "nonsense"],
  "Accept-Encoding": ["gzip", "gzip;q=x, *"],
  "Content-Type": ["application/json", "application/proto", ",", "text/plain"],
  "Content-type": ["application/grpc", "application/grpc+json", "application/grpc-web-text"],
  "content-type": ["application/connect+json"],
  "Connect-Protocol-Version": ["9"],
  "Connect-Timeout-Ms": ["-1", "1", "99999999999"],
  "Connect-Content-Encoding": ["gzip"],
  "Connect-Accept-Encoding": ["nonsense"],
  "Grpc-Timeout": ["1n", "99999999H", "99999999999H", "-1S", "x"],
  "Grpc-Encoding": ["gzip", "deflate", "nonsense"],
  "Grpc-Accept-Encoding": ["gzip", ",,;"],
  "Grpc-Message-Type": ["x"],
  "Any-Bin": ["%%%", "AAAA,BBBB"],
  "X-Request-Id": ["\u007f", "\0"],
  "X-Api-Key": ["x"],
  Authorization: ["Bearer x"],
  "User-Agent": [""],
  X: ["\r\n folded"],
  "a b": ["c"],
  "": ["empty"],
  "\xff\xfe": ["\xff"],
};

/** A header of these as its name and its value. */
export const strangeHeader = fc.constantFrom(
  ...Object.entries(STRANGE).flatMap(([name, values]) => values.map((value) => [name, value])),
) as fc.Arbitrary<[name: string, value: string]>;

const strangeLine = fc
  .oneof(
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...METHODS), fc.constantFrom(...TARGETS.split(" ")))
        .map(([method, target]) => `${method} ${target} HTTP/1.1`),
    },
    { weight: 30, arbitrary: strangeHeader.map(([name, value]) => `${name}: ${value}`) },
  )
  .map((line) => Buffer.from(`${line}\r\n`, "latin1"));

/** The lines of HTTP/1.1, those of a body too. */
const linesOf = (bytes: Buffer) =>
  latin1(bytes)
    .split(/(?<=\r\n)/)
    .map((line) => Buffer.from(line, "latin1"));

const NUMBERS =
  "0,-1,1,1e9,0x10,NaN,65537,2147483648,4294967296,99999999999999999999,1.5,, ,00000000000000001";

/** Replaces a number that is written in digits. */
const otherNumber: Mutations = fc
  .tuple(place, fc.constantFrom(...NUMBERS.split(",")))
  .map(([at, number]) => (bytes) => {
    const text = latin1(bytes).split(/(\d+)/);
    if (text.length > 1) text[1 + 2 * (at % ((text.length - 1) / 2))] = number;
    return Buffer.from(text.join(""), "latin1");
  });

/** The frames of HTTP/2 (RFC 9113, section 4.1), after the client preface. The last may be incomplete. */
function framesOf(bytes: Buffer): Buffer[] {
  const parts = [bytes.subarray(0, PREFACE.length)];
  for (let at = PREFACE.length; at < bytes.length; ) {
    const isHeader = at + FRAME_HEADER <= bytes.length;
    const end = isHeader ? at + FRAME_HEADER + bytes.readUIntBE(at, 3) : bytes.length;
    parts.push(bytes.subarray(at, end));
    at = end;
  }
  return parts;
}

const strangeFrame = fc
  .tuple(
    // DATA to CONTINUATION, and two unknown types.
    fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255),
    // END_STREAM or ACK, END_HEADERS, PADDED, PRIORITY.
    fc.constantFrom(0, 1, 4, 5, 8, 0x20, 0x2d, 0xff),
    fc.constantFrom(0, 1, 2, 3, 5, 7, 101, 0x7fffffff, 0xffffffff),
    bytesOf(0, 1, 4, 5, 6, 8, 12, 40),
  )
  .map((parts) => frame(...parts));

const line = changePart(linesOf, strangeLine);
const ofFrames = changePart(framesOf, strangeFrame);
const OF_BYTES = [flipBit, replaceBytes, replaceBytes, cut];
const MUTATIONS = {
  bytes: fc.oneof(...OF_BYTES),
  http: fc.oneof(...OF_BYTES, otherNumber, line, line, line),
  grpc: fc.oneof(...OF_BYTES, ofFrames, ofFrames),
};

/** One to three mutations of an input, in turn, by what it is made of. */
export function mutantsOf(
  format: keyof typeof MUTATIONS,
  input: fc.Arbitrary<Uint8Array>,
): fc.Arbitrary<Buffer> {
  const mutations = fc.array(MUTATIONS[format], { minLength: 1, maxLength: 3 });
  return fc.tuple(mutations, input, input).map(([mutations, bytes, other]) => {
    let mutant: Buffer = Buffer.from(bytes);
    for (const mutate of mutations) {
      if (mutant.length > 0) mutant = mutate(mutant, Buffer.from(other));
    }
    return mutant;
  });
}

function latin1(bytes: Buffer): string {
  return bytes.toString("latin1");
}
