/**
 * Request headers that grpc-js or Node would misread, corrected before grpc-js sees them:
 *
 * - Node keeps the first of two `authorization` headers and drops the other. A request with two of
 *   them is ambiguous; here they are joined, so that authentication refuses them.
 * - grpc-js reads a `grpc-timeout` beyond 24 days as 0 or 1 ms (an overflow). It is removed: the
 *   longest call applies. (A malformed one, to which grpc-js answers INTERNAL, is refused before.)
 * - grpc-js answers INTERNAL to a message that it cannot decompress. `grpc-encoding` is removed if
 *   it is one that compression.ts supports.
 */
import type { IncomingHttpHeaders } from "node:http2";
import { parseGrpcTimeout } from "../../rpc/grpc-timeout.ts";
import { isSupported } from "../messages/compression.ts";

/** The longest delay of a Node timer, in ms: https://nodejs.org/api/timers.html */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Corrects the headers of a stream.
 *
 * @param raw the names and values as they came, in turn
 */
export function correctHeaders(headers: IncomingHttpHeaders, raw: readonly string[]): void {
  joinAuthorization(headers, raw);
  correctTimeout(headers);
  if (isSupported(headers["grpc-encoding"])) delete headers["grpc-encoding"];
}

function joinAuthorization(headers: IncomingHttpHeaders, raw: readonly string[]): void {
  if (headers.authorization === undefined) return;
  const values = raw.filter((_, index) => index % 2 === 1 && raw[index - 1] === "authorization");
  if (values.length > 1) headers.authorization = values.join(", ");
}

function correctTimeout(headers: IncomingHttpHeaders): void {
  if (timeoutOf(headers) > LONGEST_TIMER) delete headers["grpc-timeout"];
}

/** The `grpc-timeout` of a request in ms; NaN if it is malformed, 0 without one. */
export function timeoutOf({ "grpc-timeout": timeout }: IncomingHttpHeaders): number {
  return timeout === undefined ? 0 : parseGrpcTimeout(String(timeout));
}
