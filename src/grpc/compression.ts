/**
 * Compressed requests. grpc-js would decompress each as it comes, before its key is known, many at once:
 * 20,000 of 10 KB, each a bomb, took 690 MiB. So its header is renamed, and the message is decompressed
 * here, in the call.
 */
import { gunzipSync, inflateSync } from "node:zlib";
import type { Metadata } from "@grpc/grpc-js";
import { MAX_MESSAGE_BYTES, ServiceError } from "../errors.ts";

/** What stands for `grpc-encoding` in the metadata of a call. */
export const RENAMED = "renamed-grpc-encoding";

/**
 * grpc-js does not pass on the compressed flag of a message. Its first byte stands for it: no message starts
 * with that of gzip (an invalid wire type), and only one with an integer in field 15, which is reserved, with
 * that of zlib.
 */
const ENCODINGS = new Map([
  ["gzip", { first: 0x1f, decode: gunzipSync }],
  ["deflate", { first: 0x78, decode: inflateSync }],
]);

/**
 * The message of a call, decompressed.
 *
 * @throws ServiceError `messageTooLarge` if the result is larger than `MAX_MESSAGE_BYTES`; Error if the
 *   message cannot be decompressed
 */
export function decompress(message: Buffer, metadata: Metadata): Buffer {
  const encoding = ENCODINGS.get(`${metadata.get(RENAMED)[0]}`);
  if (message[0] !== encoding?.first || encoding === undefined) return message;
  try {
    return encoding.decode(message, { maxOutputLength: MAX_MESSAGE_BYTES });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_BUFFER_TOO_LARGE") throw cause;
    throw new ServiceError("messageTooLarge", undefined, { cause });
  }
}
