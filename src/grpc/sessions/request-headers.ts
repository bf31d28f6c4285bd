/**
 * Request headers that grpc-js or Node would misread, corrected before grpc-js sees them:
 *
 * - Node keeps the first of two `authorization` headers and drops the other. A request with two of
 *   them is ambiguous; here they are joined, so that authentication refuses them.
 * - grpc-js reads a `grpc-timeout` beyond 24 days as 0 or 1 ms (an overflow), and answers INTERNAL
 *   to a malformed one. A long one is removed: the longest call applies. So is a malformed one,
 *   and the call is marked, so that it is refused with INVALID_ARGUMENT.
 * - grpc-js answers INTERNAL to a message that it cannot decompress. `grpc-encoding` is removed if
 *   it is one that compression.ts supports.
 *
 * @see https://github.com/grpc/grpc/blob/v1.76.0/doc/PROTOCOL-HTTP2.md (Timeout)
 */
import type { IncomingHttpHeaders } from "node:http2";
import {
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  status,
} from "@grpc/grpc-js";
import { isSupported } from "../compression.ts";

/** Marks a call with a malformed timeout. If a client sends this header, its own call is refused. */
const MALFORMED_TIMEOUT = "x-malformed-grpc-timeout";

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
  const timeout = headers["grpc-timeout"];
  if (timeout === undefined) return;
  const [, amount, unit] = /^(\d{1,8})([HMSmun])$/.exec(String(timeout)) ?? [];
  if (amount === undefined || unit === undefined) headers[MALFORMED_TIMEOUT] = "1";
  else if (Number(amount) * (UNITS[unit] ?? 0) <= LONGEST_TIMER) return;
  delete headers["grpc-timeout"];
}

/** Refuses calls that were marked with INVALID_ARGUMENT. */
export const refuseMalformedTimeout: ServerInterceptor = (_method, call) =>
  new ServerInterceptingCall(call, {
    start(next) {
      next(
        new ServerListenerBuilder()
          .withOnReceiveMetadata((metadata, deliver) => {
            if (metadata.get(MALFORMED_TIMEOUT).length === 0) deliver(metadata);
            else call.sendStatus({ code: status.INVALID_ARGUMENT, details: DETAILS });
          })
          .build(),
      );
    },
  });

const DETAILS = "grpc-timeout: expected at most 8 digits and one of the units H, M, S, m, u, n";
