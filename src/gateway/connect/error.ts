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

/** The error of a request whose message cannot be decoded. */
export function malformedMessage(): ServiceError {
  return new ServiceError("invalidArgument", "the message cannot be decoded");
}

/**
 * What Connect-ES says of a message that is marked as compressed, without a compression. Its code stays
 * INTERNAL, as in https://github.com/grpc/grpc/blob/master/doc/compression.md#test-cases, and the log has
 * the client's error that it is. messages.test.ts fails if the text changes.
 */
const NOT_DECLARED = "received compressed envelope, but do not know how to decompress";

/** Codes that Connect-ES gives to a message that it cannot parse or decompress. */
const INTERNAL: readonly Code[] = [Code.Internal, Code.Unknown, Code.DataLoss];

/**
 * The service error of a request that Connect-ES refused before the call ran. Its details are added to
 * Connect-ES's error. Where that would blame the server, or describe its own configuration, it is changed in
 * place.
 *
 * Connect-ES aborts the call's context with the error before it serializes it, so that a listener of the
 * abort can still change it. There is no public way:
 * https://github.com/connectrpc/connect-es/blob/v2.2.0/packages/connect/src/protocol-connect/handler-factory.ts
 * If that ends, test/end-to-end/protocols/messages.test.ts fails.
 *
 * @param reason the reason of the abort
 */
export function refusalOf(reason: unknown): ServiceError {
  if (!(reason instanceof ConnectError)) return malformedMessage();
  const error = refused(reason);
  reason.details = detailsOf(error);
  return error;
}

function refused(reason: ConnectError): ServiceError {
  if (reason.rawMessage === NOT_DECLARED) return malformedMessage();
  if (INTERNAL.includes(reason.code)) return replace(reason, malformedMessage());
  switch (reason.code) {
    case Code.ResourceExhausted:
      return replace(reason, new ServiceError("messageTooLarge"));
    case Code.Unimplemented:
      return new ServiceError("unsupported", reason.rawMessage);
    default:
      return new ServiceError("invalidArgument", reason.rawMessage);
  }
}

function replace(reason: ConnectError, error: ServiceError): ServiceError {
  const { entry, message } = error;
  Object.assign(reason, { code: entry.code, rawMessage: message, message });
  return error;
}
