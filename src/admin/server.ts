/**
 * The admin port: `/metrics`, `/livez` and `/readyz`, for Prometheus and an orchestrator. Nothing
 * else is served on it, and none of it on the public ports. It asks for no key, so it belongs on a
 * private network; its own limits keep a client that misuses it from taking memory.
 */
import type { AddressInfo } from "node:net";
import { fastify } from "fastify";
import type { Readiness } from "./readiness.ts";

/** The limits of the port. Times in ms. */
export const ADMIN_LIMITS = {
  /** Open connections. Node closes further ones at once. */
  maxConnections: 100,
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
  /** Renders the metrics in Prometheus's text format. */
  readonly metrics: () => Promise<string>;
  readonly readiness: Readiness;
}

/** A server of the admin port. */
export type AdminServer = ReturnType<typeof createAdminServer>;

/** Creates the server. It does not listen yet. */
export function createAdminServer({ metrics, readiness }: AdminParts) {
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
  });
  app.server.maxConnections = ADMIN_LIMITS.maxConnections;
  app.server.on("error", () => {}); // a connection that could not be accepted

  app.addHook("onRequest", async (_request, reply) => void reply.headers(HEADERS));
  app.setErrorHandler((_error, _request, reply) => reply.code(500).send("internal error\n"));

  app.get("/metrics", async (_request, reply) => reply.type(TEXT_FORMAT).send(await metrics()));
  // Looks at nothing: that it answers says that the event loop turns.
  app.get("/livez", async () => "ok\n");
  app.get<{ Querystring: Record<string, unknown> }>("/readyz", async ({ query }, reply) => {
    const ready = readiness.isReady();
    reply.code(ready ? 200 : 503);
    return ready && query.verbose === undefined ? "ok\n" : readiness.report();
  });

  return {
    /** Listens on host and port (0 picks a free one). Resolves to the port. */
    async listen(host: string, port: number) {
      await app.listen({ host, port });
      return (app.server.address() as AddressInfo).port;
    },
    /** Closes the port and its connections. */
    close: () => app.close(),
  };
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/ */
const TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8";

/** The headers of every response. */
const HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
