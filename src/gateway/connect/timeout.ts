/**
 * The timeout of a Connect or gRPC-Web request, taken out of its headers.
 *
 * The pipeline enforces deadlines. With the header left in, Connect-ES would set a timer too: one
 * that overflows for the very long timeouts that some clients send for "none", and that aborts the
 * call's context before an error of the call could (see error.ts).
 *
 * @see https://connectrpc.com/docs/protocol/#unary-request (up to 10 digits, in ms)
 */
import type { IncomingHttpHeaders } from "node:http";
import { parseGrpcTimeout } from "../../rpc/grpc-timeout.ts";

/**
 * Removes the timeout of the request's protocol from its headers and returns it in ms; Infinity
 * without one. Leaves a malformed one, which Connect-ES rejects.
 */
export function takeTimeout(headers: IncomingHttpHeaders): number {
  const grpcWeb = /^application\/grpc-web/i.test(headers["content-type"] ?? "");
  const name = grpcWeb ? "grpc-timeout" : "connect-timeout-ms";
  const value = String(headers[name] ?? "");
  const timeout = grpcWeb ? parseGrpcTimeout(value) : parseConnectTimeout(value);
  if (Number.isNaN(timeout)) return Number.POSITIVE_INFINITY;
  delete headers[name];
  return timeout;
}

function parseConnectTimeout(value: string): number {
  return /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
}
