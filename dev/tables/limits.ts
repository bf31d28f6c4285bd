/** The constants that limit what clients take, as a table of docs/operations.md. */
import { FAILURES_PER_ADDRESS } from "../../src/auth/authentication.ts";
import { KEY_QUERY_TIMEOUT, MAX_KEY_LOOKUPS } from "../../src/auth/key-queue.ts";
import { POOL_WAIT } from "../../src/db/query.ts";
import { MAX_MESSAGE_BYTES } from "../../src/errors.ts";
import { HTTP_LIMITS } from "../../src/gateway/http/limits.ts";
import { GRPC_LIMITS } from "../../src/grpc/limits.ts";
import { MAX_REFLECTIONS } from "../../src/grpc/reflection.ts";
import { MAX_QUESTIONS, MAX_SURPLUS } from "../../src/grpc/streams.ts";
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
    "calls that wait for their API key to be looked up: keys that were valid before, and other keys, each",
    count(MAX_KEY_LOOKUPS),
    "`overloaded`, without `providerId`",
  ],
  [
    `failed authentications of one client address per second; ${count(FAILURES_PER_ADDRESS.burst)} at once. Valid keys from there are served`,
    count(FAILURES_PER_ADDRESS.rate),
    "`tooManyFailures`",
  ],
  [
    "wait for a connection to the database; with a `MAX_CALL_MS` of more than 10 s, a fifth of that",
    seconds(POOL_WAIT),
    "`overloaded` with a `cause` if none became free, also where the server or the account has as many as it may have; `databaseUnavailable` if none could be made",
  ],
  ["lookup of an API key", seconds(KEY_QUERY_TIMEOUT), "`deadlineExceeded`"],
  [
    "response bytes that clients have not read; the connections with the most are closed, over HTTP before them those without a key",
    bytes(MAX_UNREAD_BYTES),
    "event `tooManyUnreadBytes`",
  ],
  [
    "time that a client takes to read a response over HTTP",
    seconds(HTTP_LIMITS.responseTimeout),
    "event `responseTimeout`",
  ],
  ["headers of a request over HTTP", bytes(HTTP_LIMITS.maxHeaderSize), "`status: 431`"],
  [
    `time until a request over HTTP has arrived; its headers within ${seconds(HTTP_LIMITS.headersTimeout)}`,
    seconds(HTTP_LIMITS.requestTimeout),
    "`status: 408`",
  ],
  [
    "message to Connect, gRPC-Web or gRPC; body of a request",
    bytes(MAX_MESSAGE_BYTES),
    "`messageTooLarge`, or `status: 413`",
  ],
  [
    "time until the TLS handshake is complete",
    seconds(HANDSHAKE_TIMEOUT),
    "event `tlsHandshakeTimeout`",
  ],
  [
    "gRPC connections; the line names the addresses that hold most (`holders`)",
    count(GRPC_LIMITS.maxConnections),
    "event `tooManyGrpcConnections`",
  ],
  [
    "what follows the message of a gRPC request",
    bytes(MAX_SURPLUS),
    "event `tooManyMessages`; the stream ends with ENHANCE_YOUR_CALM",
  ],
  [
    "calls at once on a gRPC connection; more wait at the client",
    count(GRPC_LIMITS.maxStreamsPerConnection),
    "nothing",
  ],
  [
    `reply to the ping that a gRPC connection gets every ${seconds(GRPC_LIMITS.keepalive)}`,
    seconds(GRPC_LIMITS.keepaliveReply),
    "nothing",
  ],
  [
    `open reflection streams; each may send ${bytes(MAX_QUESTIONS)}`,
    count(MAX_REFLECTIONS),
    "nothing, or event `tooManyMessages`",
  ],
  [
    "silence in both directions during a request over HTTP",
    seconds(HTTP_LIMITS.connectionTimeout),
    "nothing",
  ],
];

/** The table. */
export function limitTable(): string {
  return table([["limit", "value", "beyond it, the log has"], ...LIMITS]);
}
