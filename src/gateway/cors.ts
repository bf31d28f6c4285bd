/**
 * Cross-origin requests from browsers, for REST, Connect and gRPC-Web alike. A preflight request
 * carries no key, and is answered without one.
 *
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
import { cors as connectHeaders } from "@connectrpc/connect";
import fastifyCors, { type FastifyCorsOptions } from "@fastify/cors";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** How long a browser may keep the answer to a preflight request, in seconds. Chromium allows no more. */
const MAX_AGE = 7_200;

/** The headers of a request, besides those of Connect and gRPC-Web, which Connect-ES lists. */
const REQUEST_HEADERS = [
  "authorization",
  "x-api-key",
  "x-request-id",
  "if-none-match",
  "traceparent",
  "tracestate",
  // OpenTelemetry's and Sentry's instrumentation of browsers sends them. They are not read.
  "baggage",
  "sentry-trace",
];

/** The headers of a response that a script may read, besides those that Connect-ES lists. */
const RESPONSE_HEADERS = [
  "data-as-of",
  "error-reason",
  "etag",
  "next-page-token",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "www-authenticate",
  "x-request-id",
];

/** Lets scripts of some origins call the gateway. `*` stands for every origin. */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  const options: FastifyCorsOptions = {
    origin: [...origins],
    methods: ["GET", "HEAD", "POST"],
    allowedHeaders: [...connectHeaders.allowedHeaders, ...REQUEST_HEADERS],
    exposedHeaders: [...connectHeaders.exposedHeaders, ...RESPONSE_HEADERS],
    maxAge: MAX_AGE,
    strictPreflight: false,
  };
  app.register(fastifyCors, {
    delegator: (request, callback) =>
      callback(null, { ...options, preflight: isPreflight(request) }),
  });
}

/** Whether a request is a preflight request, and not OPTIONS for another reason. */
function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers["access-control-request-method"] !== undefined;
}
