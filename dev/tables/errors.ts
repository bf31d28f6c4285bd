/** The errors that a caller can see, as a table of docs/api.md: what the code says of each, and when it comes. */
import { status } from "@grpc/grpc-js";
import { FAILURES_PER_ADDRESS } from "../../src/auth/authentication.ts";
import { readConfig } from "../../src/config.ts";
import { POOL_WAIT } from "../../src/db/query.ts";
import { MAX_MESSAGE_BYTES, ServiceError, type ServiceErrorKind } from "../../src/errors.ts";
import { errorResponse, methodNotAllowed } from "../../src/gateway/errors.ts";
import { reasonOf } from "../../src/rpc/error-details.ts";
import { bytes, count, seconds } from "./limits.ts";
import { code, table } from "./markdown.ts";

const { maxCall, maxCalls, maxCallsPerProvider } = readConfig({
  DATABASE_URL: "mysql://u:p@h/d",
});
const { rate, burst } = FAILURES_PER_ADDRESS;

/** The errors that no provider sees: its caller has gone; only a service key may name another one (docs/internal.md). */
type Unseen = "canceled" | "providerNotFound";

/** When each comes. */
const WHEN: Readonly<Record<Exclude<ServiceErrorKind, Unseen>, string>> = {
  invalidArgument:
    "malformed date, start after end, more than 400 days, negative page size, token of another request, unknown, repeated or ill-typed parameter, malformed timeout (over gRPC: `INTERNAL`), message that cannot be decoded",
  unauthenticated:
    "API key missing, malformed, unknown, expired or revoked, or sent more than once; the response is the same for all of these",
  permissionDenied: "an `x-provider-id` that is not the provider's own",
  notFound: "unknown path",
  methodNotAllowed: "known path, but another method",
  notAcceptable: "(REST only) an `Accept` that allows neither JSON nor CSV",
  messageTooLarge: `a message of more than ${bytes(MAX_MESSAGE_BYTES)}, compressed or not; in REST, a request that declares such a body`,
  tooManyCalls: `the provider has ${maxCallsPerProvider} calls in flight`,
  rateLimited: "the provider has spent its rate limit, if the operator has set one",
  tooManyFailures: `an invalid API key, from an address that has sent too many (${count(burst)} at once, then ${rate} per second); valid keys from there are served`,
  databaseUnavailable: "the database is unavailable; safe to retry",
  deadlineExceeded: `the deadline has passed (${seconds(maxCall)}, or the client's own)`,
  internal: "any other fault",
  unsupported: "(not in REST) a compression that is not served, or not exactly one message",
  overloaded: `the service has ${count(maxCalls)} calls in flight, or the provider as many as places are free; or the database accepts no further connection, or none was free within ${seconds(POOL_WAIT)}`,
};

/** The table, in the order of the statuses. */
export function errorTable(): string {
  const rows = Object.entries(WHEN).map(([name, when]) => {
    const kind = name as ServiceErrorKind;
    const error = new ServiceError(kind);
    const response = kind === "methodNotAllowed" ? methodNotAllowed(["GET"]) : errorResponse(error);
    return [`${response.status}`, code(status[error.entry.code]), code(reasonOf(kind)), when];
  });
  return table([["REST", "gRPC and Connect", "reason", "when"], ...rows]);
}
