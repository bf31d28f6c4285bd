/**
 * Timeouts of Connect and gRPC-Web that no timer can hold. Clients write a very long one to
 * say "none"; handed to `setTimeout`, it would be over after 1 ms.
 *
 * @see https://connectrpc.com/docs/protocol/#unary-request (10 digits of milliseconds: up to 115 days)
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md (8 digits of hours: up to 11,415 years)
 */
import type { IncomingHttpHeaders } from "node:http";

/** The longest delay of a timer, in milliseconds: https://nodejs.org/api/timers.html */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Milliseconds of the gRPC units that can exceed it. */
const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000 };

/** Removes a timeout that is longer than a timer can be; leaves others, malformed ones included. */
export function removeEndlessTimeout(headers: IncomingHttpHeaders): void {
  const connect = `${headers["connect-timeout-ms"] ?? ""}`;
  if (/^\d{10}$/.test(connect) && Number(connect) > LONGEST_TIMER) {
    delete headers["connect-timeout-ms"];
  }
  const [, amount, unit] = /^(\d{1,8})([HMS])$/.exec(`${headers["grpc-timeout"] ?? ""}`) ?? [];
  if (Number(amount) * (UNITS[unit ?? ""] ?? 0) > LONGEST_TIMER) delete headers["grpc-timeout"];
}
