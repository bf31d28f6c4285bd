/**
 * The admin port: `/metrics`, `/livez` and `/readyz`, for Prometheus and an orchestrator. Nothing
 * else is served on it, and none of it on the public ports. It asks for no key, so it belongs on a
 * private network; its own limits keep a client that misuses it from taking memory.
 */
import type { AddressInfo } from "node:net";
import { type FastifyReply, fastify } from "fastify";
import { limitConnections } from "./connection-places.ts";
import type { Readiness } from "./readiness.ts";

/** The limits of the port. Times in ms. */
export const ADMIN_LIMITS = {
  /** Open connections. A further one takes the place of one that is idle. */
  maxConnections: 100,
  /** Metrics that are being made or sent; further scrapes are refused with 503. */
  maxScrapes: 32,
  maxHeaderSize: 8_192,
  /** From the start of a request, or of a connection, to the end of its headers. */
  headersTimeout: 5_000,
  /** Idle time between requests: longer than between two scrapes. */
  keepAliveTimeout: 75_000,
  /** Silence during a request, such as a response that is not read. */
  connectionTimeout: 10_000,
};

/** What the port serves. */
export interface AdminParts {
  /** Renders the metrics in the format that an `Accept` header asks for. */
  readonly metrics: (
    accept: string,
  ) => Promise<{ readonly contentType: string; readonly body: string }>;
  readonly readiness: Readiness;
}

/** A server of the admin port. */
export interface AdminServer {
  /** Listens on host and port (0 picks a free one). Resolves to the port. */
  listen(host: string, port: number): Promise<number>;
  /** Closes the port and its connections. */
  close(): Promise<void>;
}

const PATHS = { metrics: "/metrics", live: "/livez", ready: "/readyz" };

/** Creates the server. It does not listen yet. */
export function createAdminServer({ metrics, readiness }: AdminParts): AdminServer {
  const app = fastify({
    http: {
      maxHeaderSize: ADMIN_LIMITS.maxHeaderSize,
      headersTimeout: ADMIN_LIMITS.headersTimeout,
      connectionsCheckingInterval: 1_000,
    },
    requestTimeout: ADMIN_LIMITS.headersTimeout,
    keepAliveTimeout: ADMIN_LIMITS.keepAliveTimeout,
    connectionTimeout: ADMIN_LIMITS.connectionTimeout,
    forceCloseConnections: true,
    // A path that cannot be decoded.
    frameworkErrors: (_error, _request, reply) => refuse(reply, 404, "not found"),
  });
  limitConnections(app.server, ADMIN_LIMITS.maxConnections);
  app.server.on("error", () => {}); // a connection that could not be accepted

  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(HEADERS);
    if (!request.is404) {
      done();
    } else if (Object.values(PATHS).includes(request.url.replace(/\?.*/, ""))) {
      refuse(reply.header("allow", "GET, HEAD"), 405, "method not allowed");
    } else {
      refuse(reply, 404, "not found");
    }
  });
  app.setErrorHandler((_error, _request, reply) => refuse(reply, 500, "internal error"));

  let scrapes = 0;
  app.get(PATHS.metrics, async ({ headers }, reply) => {
    if (scrapes >= ADMIN_LIMITS.maxScrapes) {
      return refuse(reply, 503, "too many requests are being answered");
    }
    scrapes++;
    reply.raw.once("close", () => scrapes--);
    const { contentType, body } = await metrics(headers.accept ?? "");
    return reply.type(contentType).send(body);
  });
  // Looks at nothing: that it answers says that the event loop turns.
  app.get(PATHS.live, async () => "ok\n");
  app.get<{ Querystring: Record<string, unknown> }>(PATHS.ready, async ({ query }, reply) => {
    const ready = readiness.isReady();
    reply.code(ready ? 200 : 503);
    return ready && query.verbose === undefined ? "ok\n" : readiness.report();
  });

  return {
    async listen(host, port) {
      await app.listen({ host, port });
      return (app.server.address() as AddressInfo).port;
    },
    close: () => app.close(),
  };
}

/** The headers of every response. */
const HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** Refuses a request, and closes its connection: the request may have a body, which is not read. */
function refuse(reply: FastifyReply, status: number, reason: string): FastifyReply {
  return reply
    .code(status)
    .headers({ ...HEADERS, connection: "close" })
    .send(`${reason}\n`);
}
