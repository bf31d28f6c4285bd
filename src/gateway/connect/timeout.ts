/**
 * The timeout of a Connect or gRPC-Web request, taken out of its headers.
 *
 * The pipeline enforces deadlines. With the header left in, Connect-ES would set a timer too: one
 * that overflows for the very long timeouts that some clients send for "none", and that aborts the
 * call's context before an error of the call could (see error.ts).
 *
 * @see https://connectrpc.com/docs/protocol/#unary-request (up to 10 digits, in ms)
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md (up to 8 digits and a unit)
 */
import type { IncomingHttpHeaders } from "node:http";

/** Milliseconds of gRPC's units. */
const UNITS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/**
 * Removes the timeout of the request's protocol from its headers and returns it in ms; Infinity
 * without one. Leaves a malformed one, which Connect-ES rejects.
 */
export function takeTimeout(headers: IncomingHttpHeaders): number {
  const grpcWeb = /^application\/grpc-web/i.test(headers["content-type"] ?? "");
  const name = grpcWeb ? "grpc-timeout" : "connect-timeout-ms";
  const pattern = grpcWeb ? /^(\d{1,8})([HMSmun])$/ : /^(\d{1,10})$/;
  const [, amount, unit = "m"] = pattern.exec(`${headers[name] ?? ""}`) ?? [];
  if (amount === undefined) return Number.POSITIVE_INFINITY;
  delete headers[name];
  return Number(amount) * (UNITS[unit] ?? 1);
}
