/**
 * Compressed request messages. grpc-js decompresses all messages of a frame at once, also of a unary
 * call: 16 KiB can become 10 MiB, on each of a hundred streams. It has no option against it
 * (https://github.com/grpc/grpc-node/blob/master/packages/grpc-js/src/server-interceptors.ts,
 * `handleDataFrame`). So `grpc-encoding` is renamed before grpc-js reads the headers, and the one message
 * of a call is decompressed when it is decoded. test/unit/grpc/connection-limits.test.ts fails if Node does
 * not hand the same headers to grpc-js any more.
 *
 * grpc-js does not pass on a message's compressed flag. Its first bytes stand for it: no message starts
 * like gzip (an invalid wire type), and only one with an integer in field 15 like zlib.
 */
import type { IncomingHttpHeaders } from "node:http2";
import { gunzipSync, inflateSync } from "node:zlib";
import type { Metadata } from "@grpc/grpc-js";
import { ServiceError } from "../errors.ts";
import { MAX_MESSAGE_BYTES } from "../rpc/call.ts";

const ENCODING = "grpc-encoding";
/** What stands for it in the metadata of a call. */
const RENAMED = "renamed-grpc-encoding";
const LIMIT = { maxOutputLength: MAX_MESSAGE_BYTES };

/** Renames the encoding of a request, if it is one that `decompress` knows. */
export function renameEncoding(headers: IncomingHttpHeaders): void {
  const encoding = headers[ENCODING];
  if (encoding !== "gzip" && encoding !== "deflate") return;
  headers[RENAMED] = encoding;
  delete headers[ENCODING];
}

/**
 * The message itself if it is not compressed. Throws an Error if it cannot be decompressed, and
 * `ServiceError("messageTooLarge")` if the result is larger than `MAX_MESSAGE_BYTES`.
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
