/** Follows every request that the HTTP port reads, whether or not it becomes a call. */
import type { IncomingMessage, RequestListener } from "node:http";
import type { onRequestHookHandler } from "fastify";
import type { ObserveHttpRequest } from "../telemetry/metrics/calls.ts";

/** The two places from which requests are followed. */
interface Observation {
  /** Around the handler of all requests, those included that Fastify rejects before its hooks. */
  wrap(handler: RequestListener): RequestListener;
  /** After routing. */
  readonly onRequest: onRequestHookHandler;
}

/** Creates the observation of a port. */
export function createObservation(observe: ObserveHttpRequest): Observation {
  const routes = new WeakMap<IncomingMessage, string>();
  return {
    wrap: (handler) => (request, response) => {
      const startedAt = performance.now();
      response.once("close", () =>
        observe({
          method: request.method ?? "",
          route: routes.get(request),
          status: response.headersSent ? response.statusCode : undefined,
          milliseconds: performance.now() - startedAt,
        }),
      );
      handler(request, response);
    },
    onRequest(request, _reply, done) {
      const { url } = request.routeOptions;
      if (!request.is404 && url !== undefined) routes.set(request.raw, url);
      done();
    },
  };
}
