/** Errors in Connect and gRPC-Web. */
import { Code, ConnectError } from "@connectrpc/connect";
import { ServiceError } from "../../errors.ts";
import { detailsOf, rpcMetadata } from "../../rpc/error-details.ts";
import { errorHeaders } from "../errors.ts";

/**
 * A service error as a ConnectError: its code, its message, its headers as metadata, and its details. The
 * cause stays in the process; `ConnectError.from` would send the cause's message to the client.
 */
export function connectError(error: ServiceError): ConnectError {
  const headers = { ...errorHeaders(error), ...rpcMetadata(error) };
  return new ConnectError(error.message, error.entry.code, headers, detailsOf(error));
}

/**
 * What the log says of a request whose message Connect-ES refuses: the caller's error, also where Connect-ES
 * responds with INTERNAL. The client gets Connect-ES's error.
 */
export function refusalOf(reason: unknown): ServiceError {
  const { code = Code.Internal, rawMessage = "" } = reason instanceof ConnectError ? reason : {};
  switch (code) {
    case Code.ResourceExhausted:
      return new ServiceError("messageTooLarge");
    case Code.Unimplemented:
      return new ServiceError("unsupported", rawMessage);
    default:
      return new ServiceError("invalidArgument", "the message cannot be decoded");
  }
}
