/**
 * Compressed request messages. grpc-js answers INTERNAL to a message that it cannot decompress. So
 * `grpc-encoding` is removed before grpc-js reads it (request-headers.ts), and messages are
 * decompressed here, when they are decoded.
 *
 * grpc-js does not pass on a message's compressed flag. The first bytes replace it: no message of
 * this server starts like gzip (an invalid wire type) or zlib (an integer in field 15, which requests
 * reserve).
 *
 * @see https://github.com/grpc/grpc/blob/v1.76.0/doc/compression.md
 */
import { gunzipSync, inflateSync } from "node:zlib";
import { ServiceError } from "../../errors.ts";
import { MAX_MESSAGE_BYTES } from "../../rpc/call.ts";

const LIMIT = { maxOutputLength: MAX_MESSAGE_BYTES };

/** Whether messages with this `grpc-encoding` are decompressed here. */
export function isSupported(encoding: unknown): boolean {
  return encoding === "gzip" || encoding === "deflate";
}

/**
 * The message itself if it is not compressed. Throws an Error if it cannot be decompressed, and
 * `ServiceError("messageTooLarge")` if the result is larger than `MAX_MESSAGE_BYTES`.
 */
export function decompress(message: Buffer): Buffer {
  try {
    if (isGzip(message)) return gunzipSync(message, LIMIT);
    if (isZlib(message)) return inflateSync(message, LIMIT);
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
