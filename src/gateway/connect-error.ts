/** A failure as an error of Connect and gRPC-Web. */
import { ConnectError } from "@connectrpc/connect";
import type { Failure } from "../failure.ts";
import { failureHeaders } from "./errors.ts";

/**
 * The error of a failure: its code, its message, its headers as metadata. The failure's
 * cause stays here: `ConnectError.from` would send the cause's message to the client.
 */
export function connectError(failure: Failure): ConnectError {
  return new ConnectError(failure.message, failure.entry.code, failureHeaders(failure));
}
