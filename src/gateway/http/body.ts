/** Bodies that are not read, because they are too large. Node discards them. */
import type { IncomingMessage } from "node:http";
import { MAX_MESSAGE_BYTES } from "../../errors.ts";

/** The header of a message's envelope in gRPC-Web, in bytes. */
const ENVELOPE = 5;

/** Whether a request declares a body that is too large for any message. */
export function isBodyTooLarge({ headers }: IncomingMessage): boolean {
  return Number(headers["content-length"] ?? 0) > MAX_MESSAGE_BYTES + ENVELOPE;
}
