/** The errors that a caller can see, as a table of docs/api.md: what the code says of each, and when it comes. */
import { status } from "@grpc/grpc-js";
import { FAILURES_PER_ADDRESS } from "../../src/auth/authentication.ts";
import { KEY_QUERY_TIMEOUT } from "../../src/auth/key-queue.ts";
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

/** When each comes. Nobody sees the error of a call whose caller has gone. */
const WHEN: Readonly<Record<Exclude<ServiceErrorKind, "canceled">, string>> = {
  invalidArgument:
    "malformed date, start after end, more than 400 days, negative page size, token of another request, unknown, repeated or ill-typed parameter, malformed timeout (over gRPC: `INTERNAL`), message that cannot be decoded, a service key without exactly one well-formed `x-provider-id`. The message names the parameter, the value received and what was expected",
  unauthenticated:
    "API key missing, malformed, unknown, expired or revoked, or sent more than once, or a service key where none is accepted; the response is the same for all of these",
  permissionDenied: "a provider's key with an `x-provider-id` that is not its own",
  providerNotFound: "a service key, and a provider that does not exist",
  notFound: "unknown path. The message names the paths that there are",
  methodNotAllowed: "known path, but another method",
  notAcceptable: "(REST only) an `Accept` that allows neither JSON nor CSV",
  messageTooLarge: `a message of more than ${bytes(MAX_MESSAGE_BYTES)}, compressed or not (in Connect: 429 without \`Retry-After\`, not to be sent again); in REST, a request that declares a body of more than that`,
  tooManyCalls: `the provider has ${maxCallsPerProvider} calls in flight, or the service key`,
  rateLimited:
    "the provider, or the service key, has spent its rate limit, if the operator has set one",
  tooManyFailures: `an invalid API key, from an address that has sent too many of them (${count(burst)} at once, ${rate} per second in the long run); valid keys from there are served`,
  databaseUnavailable: "the database is unavailable; safe to retry",
  deadlineExceeded: `the call took longer than its deadline (${seconds(maxCall)}, or the client's own)`,
  internal: "any other fault",
  unsupported:
    "a request with a compression that is not served (Connect and gRPC-Web take gzip), or not exactly one message (not in REST)",
  overloaded: `the service has ${count(maxCalls)} calls in flight, or the provider has as many in flight as places are free; or the database accepts no further connection, or none to it was free within ${seconds(POOL_WAIT)} while the database answers others. If none could be made: 500, \`UNAVAILABLE\`. If the lookup of the API key takes more than ${seconds(KEY_QUERY_TIMEOUT)}: 500, \`DEADLINE_EXCEEDED\``,
};

/** What the headers are of which a response tells. The reason has a column. */
const HEADERS: Readonly<Record<string, string>> = {
  "www-authenticate": "`WWW-Authenticate: Bearer`",
  allow: "`Allow`",
  "retry-after": "`Retry-After`: no work was done",
};

/** The table, in the order of the statuses. */
export function errorTable(): string {
  const rows = Object.entries(WHEN).map(([name, when]) => {
    const kind = name as ServiceErrorKind;
    const error = new ServiceError(kind);
    const response = kind === "methodNotAllowed" ? methodNotAllowed(["GET"]) : errorResponse(error);
    const body = JSON.stringify({
      ...JSON.parse(response.body),
      ...(response.body.includes('"message"') && { message: "…" }),
    });
    const headers = Object.keys(response.headers)
      .filter((header) => header in HEADERS)
      .map((header) => `, with ${HEADERS[header]}`);
    const shown = code(body) + headers.join("");
    return [
      `${response.status}`,
      code(status[error.entry.code]),
      code(reasonOf(kind)),
      when,
      shown,
    ];
  });
  return table([["REST", "gRPC and Connect", "reason", "when", "body"], ...rows]);
}
