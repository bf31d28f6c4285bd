/**
 * Request headers that grpc-js or Node would misread, corrected before grpc-js sees them:
 *
 * - Node keeps the first of two `authorization` headers and drops the other. A request with two of
 *   them is ambiguous; here they are joined, so that authentication refuses them.
 * - grpc-js reads a `grpc-timeout` beyond 24 days as 0 or 1 ms (an overflow). It is removed: the
 *   longest call applies. (A malformed one, to which grpc-js answers INTERNAL, is refused before.)
 * - grpc-js answers INTERNAL to a message that it cannot decompress. `grpc-encoding` is removed if
 *   it is one that compression.ts supports.
 *
 * @see https://github.com/grpc/grpc/blob/v1.76.0/doc/PROTOCOL-HTTP2.md (Timeout)
 */
import type { IncomingHttpHeaders } from "node:http2";
import { isSupported } from "../messages/compression.ts";

/** Units of `grpc-timeout`, in ms. */
const UNITS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};
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
  if (timeout === undefined) return 0;
  const [, amount, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(String(timeout)) ?? [];
  return Number(amount) * (UNITS[unit] ?? Number.NaN);
}
