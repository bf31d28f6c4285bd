/**
 * Requests, and what grpc-js must not do with them. It takes apart everything that comes before anything
 * can refuse it: binary headers at their commas, all messages of a DATA frame, compressed ones too. It has
 * no option against that
 * (https://github.com/grpc/grpc-node/blob/master/packages/grpc-js/src/server-interceptors.ts). So headers
 * are reduced before it reads them, and a request with more than its message is ended.
 *
 * Node hands the same headers to the diagnostics channel and to grpc-js; test/unit/grpc fails if it does
 * not any more.
 */
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { gunzipSync, inflateSync } from "node:zlib";
import type { Metadata } from "@grpc/grpc-js";
import { PROVIDER_HEADER } from "../auth/provider.ts";
import { MAX_MESSAGE_BYTES, ServiceError } from "../errors.ts";
import { parseGrpcTimeout } from "../rpc/grpc-timeout.ts";

/** The number of a stream, which `reduceHeaders` adds to the metadata of its call. */
export const STREAM = "stream";

/**
 * The headers that grpc-js and this service need, and the longest value of each, in characters: longer than
 * any that is valid. grpc-js keeps all of them until the stream ends, and quotes some in its answer.
 */
const NEEDED = new Map([
  [":method", 16],
  [":path", 128],
  [":scheme", 16],
  [":authority", 256],
  ["content-type", 128],
  ["te", 16],
  ["grpc-timeout", 16],
  ["grpc-encoding", 32],
  ["grpc-accept-encoding", 128],
  ["x-api-key", 256],
  ["authorization", 256],
  [PROVIDER_HEADER, 32],
  ["x-request-id", 256],
  ["x-forwarded-for", 2_048],
  ["traceparent", 128],
  ["tracestate", 1_024],
]);

/** What stands for a longer timeout, in ms: longer than the longest call. Beyond 24 days, timers overflow. */
const LONGEST = 60_000;

/** gRPC with protobuf. grpc-js takes every codec, and every method. */
const CONTENT_TYPE = /^application\/grpc(?:\+proto)?(?:;|$)/;

const ENCODING = "grpc-encoding";
/** What stands for it in the metadata of a call. */
const RENAMED = "renamed-grpc-encoding";
const LIMIT = { maxOutputLength: MAX_MESSAGE_BYTES };

/**
 * Reduces the headers of a request to those that are needed, in place, and of one that is too long to its
 * end: that of `x-forwarded-for` is what the nearest proxy wrote. HPACK lets a client name a header of 4 KiB
 * with a byte: 19 KB on the wire became six million buffers, and 20 KB became 6 MB of answers.
 *
 * An encoding that `decompress` knows is renamed, so that grpc-js decompresses nothing: 16 KiB can become
 * 10 MiB, on each of a hundred streams.
 */
export function reduceHeaders(headers: IncomingHttpHeaders, stream: string): void {
  for (const name of Object.keys(headers)) {
    const value = `${headers[name]}`;
    const longest = NEEDED.get(name);
    if (longest === undefined) delete headers[name];
    else if (value.length > longest) headers[name] = endOf(value, longest);
  }
  headers[STREAM] = stream;
  // grpc-js answers 415 to a request without one.
  if (headers[":method"] !== "POST" || !CONTENT_TYPE.test(`${headers["content-type"]}`)) {
    delete headers["content-type"];
  }
  if (parseGrpcTimeout(`${headers["grpc-timeout"]}`) > LONGEST) {
    headers["grpc-timeout"] = `${LONGEST}m`;
  }
  const encoding = headers[ENCODING];
  if (encoding !== "gzip" && encoding !== "deflate") return;
  headers[RENAMED] = encoding;
  delete headers[ENCODING];
}

/** The end of a text, as a copy: a slice of it would keep all of it in memory. */
function endOf(value: string, length: number): string {
  return Buffer.from(value.slice(-length), "latin1").toString("latin1");
}

/** The flag and the length of a message, in bytes. */
const PREFIX = 5;
/** What may follow the message of a request, in bytes. grpc-js says what is wrong with that. */
export const MAX_SURPLUS = 1_024;

/**
 * Watches the body of a request that has one message, and calls back once if much more follows: a DATA
 * frame of 16 KiB holds 3,276 empty messages. What follows is made to look like one message that is larger
 * than any may be, for which grpc-js ends the call.
 */
export function watchMessage(stream: ServerHttp2Stream, onSurplus: () => void): void {
  const prefix = Buffer.alloc(PREFIX);
  let received = 0;
  const read = (data: Buffer) => {
    if (received < PREFIX) data.copy(prefix, received);
    received += data.length;
    const surplus = received - PREFIX - prefix.readUInt32BE(1);
    if (received < PREFIX || surplus <= MAX_SURPLUS) return;
    data.fill(0xff, Math.max(data.length - surplus, 0));
    stream.off("data", read);
    onSurplus();
  };
  // It reads what grpc-js reads, and before: a listener alone would begin to read. What comes after the
  // response nobody else reads, and the stream ends only when it is read.
  stream.on("data", read).pause();
  stream.once("finish", () => stream.resume());
}

/**
 * The message of a call, decompressed. grpc-js does not pass on its compressed flag. Its first bytes stand
 * for it: no message starts like gzip (an invalid wire type), and only one with an integer in field 15
 * like zlib.
 *
 * @throws ServiceError `messageTooLarge` if the result is larger than `MAX_MESSAGE_BYTES`; Error if the
 *   message cannot be decompressed
 */
export function decompress(message: Buffer, metadata: Metadata): Buffer {
  const [encoding] = metadata.get(RENAMED);
  try {
    if (encoding === "gzip" && isGzip(message)) return gunzipSync(message, LIMIT);
    if (encoding === "deflate" && isZlib(message)) return inflateSync(message, LIMIT);
    return message;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_BUFFER_TOO_LARGE") throw cause;
    throw new ServiceError("messageTooLarge", undefined, { cause });
  }
}

/** RFC 1952, section 2.3.1. */
function isGzip(message: Buffer): boolean {
  return message[0] === 0x1f && message[1] === 0x8b;
}

/** RFC 1950, section 2.2, with the usual window of 32 KiB. */
function isZlib(message: Buffer): boolean {
  return message[0] === 0x78 && message.length > 1 && message.readUInt16BE() % 31 === 0;
}
