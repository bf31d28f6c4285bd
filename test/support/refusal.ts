/** How a refused call looks through each door. The texts stand in the tests, to the letter. */
import type { Outcome, RpcClient } from "./clients/client.ts";

/** One row of the design's error table. */
export interface Refusal {
  /** REST's status and body. */
  readonly status: number;
  readonly body: string;
  /** The code and the message of all the others. */
  readonly code: string;
  readonly message: string;
}

/** What went wrong inside is one field, whatever it was (spec, section 7). */
const INSIDE = '{"error":"An error occurred while retrieving revenue data"}';

export function badRequest(message: string): Refusal {
  const body = JSON.stringify({ error: "Bad Request", message });
  return { status: 400, body, code: "INVALID_ARGUMENT", message };
}

export const UNAUTHENTICATED: Refusal = {
  status: 401,
  body: '{"error":"Unauthorized","message":"API key authentication is required: send a valid key in exactly one of the headers X-API-Key or Authorization (Bearer)"}',
  code: "UNAUTHENTICATED",
  message:
    "API key authentication is required: send a valid key in exactly one of the headers X-API-Key or Authorization (Bearer)",
};

export const TOO_MANY_CALLS: Refusal = {
  status: 429,
  body: '{"error":"Too Many Requests","message":"too many calls of this provider are under way; try again in a second"}',
  code: "RESOURCE_EXHAUSTED",
  message: "too many calls of this provider are under way; try again in a second",
};

export const OVERLOADED: Refusal = {
  status: 503,
  body: '{"error":"Service Unavailable","message":"the service has more calls under way than it takes on; try again in a second"}',
  code: "UNAVAILABLE",
  message: "the service has more calls under way than it takes on; try again in a second",
};

export const DATABASE_UNAVAILABLE: Refusal = {
  status: 500,
  body: INSIDE,
  code: "UNAVAILABLE",
  message: "the revenue data cannot be reached at the moment; try again",
};

export const DEADLINE_EXCEEDED: Refusal = {
  status: 500,
  body: INSIDE,
  code: "DEADLINE_EXCEEDED",
  message: "the call took longer than its deadline",
};

export const INTERNAL: Refusal = {
  status: 500,
  body: INSIDE,
  code: "INTERNAL",
  message: "an error occurred while retrieving revenue data",
};

/** The refusal as the door shows it, without its headers. */
export function through({ protocol }: Pick<RpcClient, "protocol">, refusal: Refusal) {
  return protocol === "rest"
    ? { code: `${refusal.status}`, message: refusal.body }
    : { code: refusal.code, message: refusal.message };
}

/** An outcome without its headers. */
export function bare({ head: _, ...outcome }: Outcome) {
  return outcome;
}
