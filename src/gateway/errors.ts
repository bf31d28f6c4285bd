/** Errors as HTTP responses: those of the catalogue (src/errors.ts), and those of HTTP itself. */
import { STATUS_CODES } from "node:http";
import { ServiceError, serviceErrors } from "../errors.ts";
import { reasonOf } from "../rpc/error-details.ts";
import type { HttpResponse } from "./response.ts";

/**
 * The REST response of an error: `{"error", "message"}`, and its reason in a header. An internal error has
 * `error` only, whatever its message: status 5xx other than 503, which means that nothing was done.
 */
export function errorResponse(error: ServiceError): HttpResponse {
  const { status, error: title } = error.entry;
  const body =
    status < 500 || status === 503 ? { error: title, message: error.message } : { error: title };
  const headers = { ...errorHeaders(error), "error-reason": reasonOf(error.kind) };
  return { status, headers, body: JSON.stringify(body) };
}

/** The headers of an error, the same in every protocol on the HTTP port. */
export function errorHeaders(error: ServiceError): Readonly<Record<string, string>> {
  const { entry, metadata } = error;
  // RFC 9110, section 11.6.1: a 401 response names the authentication scheme.
  return entry.status === 401 ? { "www-authenticate": "Bearer", ...metadata } : metadata;
}

/** The response for an unknown path. It names those that there are. */
export function notFound(paths: readonly string[]): HttpResponse {
  const { message } = serviceErrors.notFound;
  const named = `${message}; the paths are ${paths.join(", ")}`;
  return errorResponse(new ServiceError("notFound", named));
}

/** The response for a method other than the `allowed` ones of a path. */
export function methodNotAllowed(allowed: readonly string[]): HttpResponse {
  const list = allowed.join(", ");
  const error = new ServiceError("methodNotAllowed", `allowed methods: ${list}`);
  const response = errorResponse(error);
  return { ...response, headers: { ...response.headers, allow: list } };
}

/** The message of each status of a request that is wrong as HTTP, where no other says more. */
const HTTP_ERRORS = {
  400: "the request is not valid HTTP",
  415: "unsupported content type",
};

/** The response for a request that is wrong as HTTP. */
export function httpError(
  status: keyof typeof HTTP_ERRORS,
  message = HTTP_ERRORS[status],
): HttpResponse {
  return { status, headers: {}, body: JSON.stringify({ error: STATUS_CODES[status], message }) };
}
