/**
 * One of Connect-ES's handlers, made to keep the port's promises where the request cannot
 * be read: authentication comes first, nothing that a caller sends is an internal error,
 * and what is refused before there is a call is refused in JSON.
 */

import { Code, ConnectError } from "@connectrpc/connect";
import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { Failure } from "../failure.ts";
import type { Door } from "../rpc/call.ts";
import { type Answer, JSON_TYPE } from "./answer.ts";
import { type Arrival, arrivalOf } from "./connect-arrival.ts";
import { withoutEndlessTimeout } from "./connect-timeout.ts";
import { httpError, methodNotAllowed } from "./errors.ts";
import { logRefusal, type Port } from "./port.ts";
import { isUnary } from "./routes.ts";

/** The same handler with these promises. The request's context values hold its arrival. */
export function courteous(handler: UniversalHandler, port: Port): UniversalHandler {
  return Object.assign(
    (request: UniversalServerRequest) => handle(handler, request, port),
    handler,
  );
}

async function handle(
  handler: UniversalHandler,
  request: UniversalServerRequest,
  port: Port,
): Promise<UniversalServerResponse> {
  const arrival = arrivalOf(request.contextValues ?? noValues());
  const door = doorOf(request.header.get("content-type"));
  if (!handler.allowedMethods.includes(request.method)) {
    return refusal(port, door, arrival, methodNotAllowed(handler.allowedMethods));
  }
  arrival.departure = request.signal;
  withoutEndlessTimeout(request.header);
  const response = await handler(request);
  if (response.status === 415) return refusal(port, door, arrival, httpError(415));
  if (arrival.called) return response;

  const verdict = await verdictOn(handler, door, arrival, port);
  if (verdict.kind === "invalidArgument" && !blamesTheServer(arrival.ended?.reason))
    return response;
  arrival.refusal = verdict;
  return handler(request);
}

/**
 * What the Rpc says to a request that Connect could not read: a bad key with a bad body is a
 * bad key; and the call is logged and counted.
 */
async function verdictOn(
  { method }: UniversalHandler,
  door: Door,
  { requestId, credentials }: Arrival,
  { rpc }: Port,
): Promise<Failure> {
  const unreadable = new Failure("invalidArgument", "the message cannot be decoded");
  if (!isUnary(method)) return unreadable;
  const request = () => {
    throw unreadable;
  };
  const deadline = Number.POSITIVE_INFINITY;
  // Not the caller's departure: what could not be read has ended the request already.
  const { signal } = new AbortController();
  try {
    await rpc.call({ method, door, requestId, credentials, deadline, signal, request });
    return unreadable;
  } catch (thrown) {
    return Failure.from(thrown);
  }
}

/** Whether Connect's error says "internal", as it does of protobuf that cannot be parsed. */
function blamesTheServer(reason: unknown): boolean {
  const { code } = ConnectError.from(reason);
  return code === Code.Internal || code === Code.Unknown;
}

/** An answer of the port as Connect-ES sends it; the headers of all answers come from the scope's hook. */
function refusal(
  port: Port,
  door: Door,
  { requestId }: Arrival,
  { status, headers, body }: Answer,
): UniversalServerResponse {
  logRefusal(port, door, requestId, status);
  return {
    status,
    header: new Headers({
      ...headers,
      "content-type": JSON_TYPE,
      "content-length": String(Buffer.byteLength(body)),
    }),
    body: bytes(body),
  };
}

async function* bytes(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}

function doorOf(contentType: string | null): Door {
  return contentType?.startsWith("application/grpc-web") ? "grpc-web" : "connect";
}

function noValues(): never {
  throw new Error("a request without context values");
}
