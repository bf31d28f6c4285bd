/**
 * The errors that clients see, in each protocol. The texts are written out here, not imported from
 * the service, so that a change of a text fails a test.
 */
import type { RpcClient } from "./clients/client.ts";

/** One error of the service. */
export interface ExpectedError {
  /** REST's status and body. */
  readonly status: number;
  readonly body: string;
  /** The code and the message in the other protocols. */
  readonly code: string;
  readonly message: string;
}

function withMessage(status: number, error: string, code: string, message: string): ExpectedError {
  return { status, body: JSON.stringify({ error, message }), code, message };
}

/** An error of the service itself: REST shows one field, whatever the cause. */
function inside(code: string, message: string): ExpectedError {
  const body = '{"error":"An error occurred while retrieving revenue data"}';
  return { status: 500, body, code, message };
}

/** The error of a request that is malformed as the message says. */
export function badRequest(message: string): ExpectedError {
  return withMessage(400, "Bad Request", "INVALID_ARGUMENT", message);
}

export const UNAUTHENTICATED = withMessage(
  401,
  "Unauthorized",
  "UNAUTHENTICATED",
  "API key authentication is required: send a valid key in exactly one of the headers X-API-Key or Authorization (Bearer)",
);

export const FORBIDDEN = withMessage(
  403,
  "Forbidden",
  "PERMISSION_DENIED",
  "this API key is for its own provider alone: leave out the header x-provider-id, or send that provider's id",
);

export const PROVIDER_NOT_FOUND = withMessage(
  404,
  "Not Found",
  "NOT_FOUND",
  "there is no provider with the id in the header x-provider-id",
);

export const TOO_MANY_CALLS = withMessage(
  429,
  "Too Many Requests",
  "RESOURCE_EXHAUSTED",
  "too many concurrent calls of this caller; retry after one second",
);

export const RATE_LIMITED = withMessage(
  429,
  "Too Many Requests",
  "RESOURCE_EXHAUSTED",
  "too many requests of this caller; retry after the time in Retry-After",
);

export const OVERLOADED = withMessage(
  503,
  "Service Unavailable",
  "UNAVAILABLE",
  "the service is overloaded; retry after one second",
);

export const DATABASE_UNAVAILABLE = inside(
  "UNAVAILABLE",
  "the revenue data is temporarily unavailable; retry the call",
);

export const DEADLINE_EXCEEDED = inside("DEADLINE_EXCEEDED", "deadline exceeded");

/** The code and the message that a client receives for an error. */
export function errorThrough({ protocol }: Pick<RpcClient, "protocol">, error: ExpectedError) {
  return protocol === "rest"
    ? { code: `${error.status}`, message: error.body }
    : { code: error.code, message: error.message };
}
