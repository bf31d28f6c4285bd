/** The constants that limit what clients take, as a table of docs/operations.md. */
import { FAILURES_PER_ADDRESS } from "../../src/auth/authentication.ts";
import { KEY_QUERY_TIMEOUT, MAX_KEY_LOOKUPS } from "../../src/auth/key-queue.ts";
import { POOL_WAIT } from "../../src/db/query.ts";
import { MAX_MESSAGE_BYTES } from "../../src/errors.ts";
import { HTTP_LIMITS } from "../../src/gateway/http/limits.ts";
import { GRPC_LIMITS } from "../../src/grpc/limits.ts";
import { MAX_SURPLUS } from "../../src/grpc/streams.ts";
import { MAX_UNREAD_BYTES } from "../../src/net/unread.ts";
import { HANDSHAKE_TIMEOUT } from "../../src/tls/port-tls.ts";
import { table } from "./markdown.ts";

/** A number, with a comma at thousands. */
export const count = (value: number) => value.toLocaleString("en-US");
/** A time in ms, in s. */
export const seconds = (ms: number) => `${count(ms / 1_000)} s`;
/** A size in bytes, in KiB or MiB. */
export const bytes = (size: number) =>
  size < 2 ** 20 ? `${count(size / 2 ** 10)} KiB` : `${count(size / 2 ** 20)} MiB`;

/** Each limit, its value, and what the log has beyond it. */
const LIMITS: readonly (readonly [limit: string, value: string, log: string])[] = [
  [
    "calls that wait for the look-up of their key; known keys and others, each",
    count(MAX_KEY_LOOKUPS),
    "`overloaded`, without `providerId`",
  ],
  ["look-up of a key", seconds(KEY_QUERY_TIMEOUT), "`deadlineExceeded`"],
  [
    `invalid keys of one address per second, ${count(FAILURES_PER_ADDRESS.burst)} at once; valid ones are served`,
    count(FAILURES_PER_ADDRESS.rate),
    "`tooManyFailures`",
  ],
  [
    "wait for a connection to the database; a fifth of a `MAX_CALL_MS` above 10 s",
    seconds(POOL_WAIT),
    "`overloaded` with a `cause`, or `databaseUnavailable`",
  ],
  [
    "unread response bytes; the connections with most are closed, over HTTP first those without a key",
    bytes(MAX_UNREAD_BYTES),
    "event `tooManyUnreadBytes`",
  ],
  ["reading of an HTTP response", seconds(HTTP_LIMITS.responseTimeout), "event `responseTimeout`"],
  ["headers of an HTTP request", bytes(HTTP_LIMITS.maxHeaderSize), "`status: 431`"],
  [
    `arrival of an HTTP request; of its headers ${seconds(HTTP_LIMITS.headersTimeout)}`,
    seconds(HTTP_LIMITS.requestTimeout),
    "`status: 408`",
  ],
  ["message or body", bytes(MAX_MESSAGE_BYTES), "`messageTooLarge`, `status: 413`"],
  ["TLS handshake", seconds(HANDSHAKE_TIMEOUT), "event `tlsHandshakeTimeout`"],
  [
    "gRPC connections; `holders` has the addresses with most",
    count(GRPC_LIMITS.maxConnections),
    "event `tooManyGrpcConnections`",
  ],
  [
    "calls at once on each; more wait at the client",
    count(GRPC_LIMITS.maxStreamsPerConnection),
    "nothing",
  ],
  [
    `reply to the ping of a gRPC connection, every ${seconds(GRPC_LIMITS.keepalive)}`,
    seconds(GRPC_LIMITS.keepaliveReply),
    "nothing",
  ],
  [
    "bytes behind a gRPC message; the stream is reset",
    bytes(MAX_SURPLUS),
    "event `tooManyMessages`",
  ],
];

/** The table. */
export function limitTable(): string {
  return table([["limit", "value", "beyond it, the log has"], ...LIMITS]);
}
