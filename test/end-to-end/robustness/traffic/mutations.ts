/** Random changes of valid bytes, whose results are perhaps not valid. */
import type { Random } from "./random.ts";

/** Changes a copy of the bytes. `other` is a second valid input. */
export type Mutation = (bytes: Buffer, random: Random, other: Buffer) => Buffer;

const flipBit: Mutation = (bytes, random) => {
  const flipped = Buffer.from(bytes);
  const at = random.below(bytes.length);
  flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8));
  return flipped;
};

const insertBytes: Mutation = (bytes, random) =>
  replace(bytes, random.below(bytes.length + 1), 0, random.bytes(1 + random.below(8)));

const deleteBytes: Mutation = (bytes, random) =>
  replace(bytes, random.below(bytes.length), 1 + random.below(16), Buffer.alloc(0));

const duplicateBytes: Mutation = (bytes, random) => {
  const start = random.below(bytes.length);
  const piece = bytes.subarray(start, start + 1 + random.below(64));
  return replace(bytes, start, 0, piece);
};

const truncate: Mutation = (bytes, random) => bytes.subarray(0, random.below(bytes.length));

const splice: Mutation = (bytes, random, other) =>
  Buffer.concat([
    bytes.subarray(0, random.below(bytes.length + 1)),
    other.subarray(random.below(other.length + 1)),
  ]);

/** Big-endian, as the lengths of HTTP/2 and gRPC are. */
const extremeInteger: Mutation = (bytes, random) => {
  const value = random.pick([
    [0xff, 0xff, 0xff, 0xff],
    [0x7f, 0xff, 0xff, 0xff],
    [0x80, 0, 0, 0],
    [0, 0, 0, 0],
    [0xff, 0xff, 0xff],
    [0, 0xff, 0xff],
  ]);
  return replace(bytes, random.below(bytes.length), value.length, Buffer.from(value));
};

/** Mutations for any format. */
export const BYTE_MUTATIONS = [
  flipBit,
  insertBytes,
  deleteBytes,
  duplicateBytes,
  truncate,
  splice,
  extremeInteger,
] as const;

const NUMBERS = [
  ...["0", "-1", "1", "1e9", "0x10", "NaN", "65537", "2147483648", "4294967296"],
  ...["99999999999999999999", "1.5", "", " ", "00000000000000001"],
] as const;

const extremeNumber: Mutation = (bytes, random) => {
  const numbers = [...bytes.toString("latin1").matchAll(/\d+/g)];
  const chosen = numbers[random.below(numbers.length)];
  if (chosen === undefined) return bytes;
  const number = random.pick(NUMBERS);
  return replace(bytes, chosen.index, chosen[0].length, Buffer.from(number));
};

/** Header lines that change the meaning of a request, or are not valid. */
const HEADERS = [
  ...["Transfer-Encoding: chunked", "Transfer-Encoding: gzip, chunked", "Content-Length: 5"],
  ...["Content-Length: -1", "Expect: 100-continue", "Expect: wonders", "Connection: close"],
  ...["Connection: upgrade", "Upgrade: h2c", "Upgrade: websocket", "HTTP2-Config: AAMAAABk"],
  ...["Host: ", "Host: [::", "Host: a b", "Content-Encoding: gzip", "Content-Encoding: br"],
  ...["Content-Encoding: nonsense", "Accept-Encoding: gzip", "Accept-Encoding: gzip;q=x, *"],
  ...["Content-Type: application/json", "Content-Type: application/proto", "Content-Type: ,"],
  ...["Content-Type: application/grpc", "Content-Type: application/grpc-web-text"],
  ...["Content-Type: application/connect+json", "Connect-Protocol-Version: 9"],
  ...["Connect-Timeout-Ms: -1", "Connect-Timeout-Ms: 1", "Connect-Timeout-Ms: 99999999999"],
  ...["Grpc-Timeout: 1n", "Grpc-Timeout: 99999999999H", "Grpc-Encoding: gzip", "X-Request-Id: \0"],
  ...["Connect-Content-Encoding: gzip", "Connect-Accept-Encoding: nonsense", "X: \r\n folded"],
  ...[
    "Authorization: Bearer x",
    "X-Api-Key: x",
    "a b: c",
    ": empty",
    "Trailer: x",
    "\xff\xfe: \xff",
  ],
] as const;

const addHeader: Mutation = (bytes, random) =>
  withLines(bytes, (lines) => lines.splice(1, 0, random.pick(HEADERS)));

const dropHeader: Mutation = (bytes, random) =>
  withLines(bytes, (lines) => lines.splice(random.below(lines.length), 1));

const repeatHeader: Mutation = (bytes, random) =>
  withLines(bytes, (lines) => {
    const at = random.below(lines.length);
    lines.splice(at, 0, lines[at] ?? "");
  });

const otherMethod: Mutation = (bytes, random) =>
  withLines(bytes, (lines) => {
    const method = random.pick(["OPTIONS", "PUT", "POST", "GET", "HEAD", "CONNECT", "PRI", "get"]);
    lines[0] = `${lines[0]}`.replace(/^\w+/, method);
  });

const otherTarget: Mutation = (bytes, random) =>
  withLines(bytes, (lines) => {
    const target = random.pick([
      ...["*", "//", "/%zz", "/%00", "http://a/b", "http://[", "/?", "/#", "a:1"],
      ...["/api/provider/revenue?a=%", "/api/provider/revenue/servers?startDate=%ff"],
    ]);
    lines[0] = `${lines[0]}`.replace(/ \S+/, ` ${target}`);
  });

/** Mutations for HTTP/1.1. */
export const HTTP1_MUTATIONS = [
  extremeNumber,
  addHeader,
  addHeader,
  dropHeader,
  repeatHeader,
  otherMethod,
  otherTarget,
] as const;

/** Changes the lines of the first request's header section. */
function withLines(bytes: Buffer, change: (lines: string[]) => unknown): Buffer {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return bytes;
  const lines = bytes.subarray(0, end).toString("latin1").split("\r\n");
  change(lines);
  return Buffer.concat([Buffer.from(lines.join("\r\n"), "latin1"), bytes.subarray(end)]);
}

/** The bytes with `count` of them replaced. */
function replace(bytes: Buffer, start: number, count: number, piece: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, start), piece, bytes.subarray(start + count)]);
}

/** Applies one to three of the mutations in turn. */
export function mutate(
  mutations: readonly Mutation[],
  bytes: Buffer,
  random: Random,
  other: Buffer = bytes,
): Buffer {
  let mutant = bytes;
  for (let left = 1 + random.below(3); left > 0 && mutant.length > 0; left--) {
    mutant = random.pick(mutations)(mutant, random, other);
  }
  return mutant;
}
