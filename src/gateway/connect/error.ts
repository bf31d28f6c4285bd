/** Errors in Connect and gRPC-Web. */
import { Code, ConnectError } from "@connectrpc/connect";
import { ServiceError } from "../../errors.ts";
import { errorHeaders } from "../errors.ts";

/**
 * A service error as a ConnectError: its code, its message, and its headers as metadata. The cause
 * stays in the process; `ConnectError.from` would send the cause's message to the client.
 */
export function connectError(error: ServiceError): ConnectError {
  return new ConnectError(error.message, error.entry.code, errorHeaders(error));
}

/** The error of a request whose message cannot be decoded. */
export function malformedMessage(): ServiceError {
  return new ServiceError("invalidArgument", "the message cannot be decoded");
}

const INTERNAL: readonly Code[] = [Code.Internal, Code.Unknown, Code.DataLoss];

/**
 * Turns an internal error of Connect-ES into `malformedMessage`, in place. Connect-ES calls a
 * message that it cannot parse or decompress an internal error, which would blame the server.
 *
 * It aborts the call's context with the error before it serializes it, so that a listener of the
 * abort can still change code and message. test/unit/gateway/connect-malformed.test.ts fails if it does not.
 *
 * @param reason the reason of the abort
 */
export function blameClient(reason: unknown): void {
  if (!(reason instanceof ConnectError) || !INTERNAL.includes(reason.code)) return;
  const { entry, message } = malformedMessage();
  Object.assign(reason, { code: entry.code, rawMessage: message, message });
}
