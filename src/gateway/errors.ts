/**
 * Errors as answers: the catalogue's failures (src/errors.ts), and what goes wrong in HTTP
 * itself, before there is a call.
 */
import { STATUS_CODES } from "node:http";
import { ServiceError } from "../errors.ts";
import type { HttpResponse } from "./response.ts";
import { writeString } from "./transcoding/scalar-writer.ts";

/**
 * A failure as its REST answer: `{"error", "message"}`; where something went wrong inside
 * (5xx, but for 503, which says that nothing was done), `error` alone, whatever the message.
 */
export function errorResponse(failure: ServiceError): HttpResponse {
  const { status, error } = failure.entry;
  return {
    status,
    headers: errorHeaders(failure),
    body:
      status >= 500 && status !== 503
        ? `{"error":${writeString(error)}}`
        : twoFields(error, failure.message),
  };
}

/** The headers that belong to a failure, whatever the protocol. */
export function errorHeaders(failure: ServiceError): Readonly<Record<string, string>> {
  const { status, retryAfter } = failure.entry;
  if (retryAfter !== undefined) return { "retry-after": retryAfter.toString() };
  // RFC 9110, section 11.6.1: a 401 says how to authenticate.
  return status === 401 ? { "www-authenticate": "Bearer" } : {};
}

/** The answer to a path that is not served. */
export function notFound(): HttpResponse {
  return errorResponse(new ServiceError("notFound"));
}

/** The answer to a method that a path does not serve; `allowed` are those it does. */
export function methodNotAllowed(allowed: readonly string[]): HttpResponse {
  const list = allowed.join(", ");
  const failure = new ServiceError("methodNotAllowed", `this path answers ${list}`);
  return { ...errorResponse(failure), headers: { allow: list } };
}

/** What can be wrong with a request as HTTP, by status: what the caller reads. */
const HTTP_ERRORS = {
  400: "the request is not valid HTTP",
  408: "the request took too long to arrive",
  413: "the request is too large",
  415: "this path does not take this content type",
  417: "this expectation cannot be met",
  429: "too many requests wait on this connection",
  431: "the request's headers are too large",
};

/** A status of HTTP that is no call's failure. */
export type HttpErrorStatus = keyof typeof HTTP_ERRORS;

/** The answer to a request that is wrong as HTTP. */
export function httpError(status: HttpErrorStatus, message = HTTP_ERRORS[status]): HttpResponse {
  return { status, headers: {}, body: twoFields(STATUS_CODES[status] ?? "", message) };
}

function twoFields(error: string, message: string): string {
  return `{"error":${writeString(error)},"message":${writeString(message)}}`;
}
