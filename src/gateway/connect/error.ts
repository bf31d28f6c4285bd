/** Errors of Connect and gRPC-Web. */
import { Code, ConnectError } from "@connectrpc/connect";
import { ServiceError } from "../../errors.ts";
import { errorHeaders } from "../errors.ts";

/**
 * A service error as Connect's: its code, its message, its headers as metadata. The cause stays
 * here: `ConnectError.from` would send the cause's message to the client.
 */
export function connectError(error: ServiceError): ConnectError {
  return new ConnectError(error.message, error.entry.code, errorHeaders(error));
}

/**
 * The error of a call whose message could not be read; `reason` is what Connect-ES aborts the
 * call's context with. It calls protobuf that cannot be parsed an internal error, which would
 * blame the server: such an error gets the code and the message of a malformed request, before
 * Connect-ES serializes it.
 */
export function decodingError(reason: unknown): ServiceError {
  if (reason instanceof ServiceError) return reason;
  const error = new ServiceError("invalidArgument", "the message cannot be decoded");
  if (reason instanceof ConnectError && INTERNAL.includes(reason.code)) {
    const { code } = error.entry;
    Object.assign(reason, { code, rawMessage: error.message, message: error.message });
  }
  return error;
}

const INTERNAL: readonly Code[] = [Code.Internal, Code.Unknown];
