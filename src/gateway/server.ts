/** The gateway: services over REST, Connect and gRPC-Web on one HTTP port. */
import type { AddressInfo } from "node:net";
import type { DescService } from "@bufbuild/protobuf";
import { type FastifyInstance, fastify } from "fastify";
import type { Addresses } from "../net/address.ts";
import type { Rpc } from "../rpc/call.ts";
import { requestIdFrom } from "../rpc/request-id.ts";
import type { ReportEvent } from "../telemetry/event-log.ts";
import type { Log } from "../telemetry/log.ts";
import type { ObserveHttpRequest } from "../telemetry/metrics/calls.ts";
import type { PortTls } from "../tls/port-tls.ts";
import { connectPaths, serveConnect } from "./connect/connect.ts";
import {
  type CountRejection,
  type GatewayContext,
  logClientErrors,
  rejectRequest,
} from "./context.ts";
import { allowOrigins } from "./cors.ts";
import { CSV_ROWS } from "./csv-rows.ts";
import { httpError } from "./errors.ts";
import { type Connections, unreadOf } from "./http/connections.ts";
import { createHttpServer, type HttpServerParts } from "./http/http-server.ts";
import type { HttpLimits } from "./http/limits.ts";
import { shutDown } from "./http/shutdown.ts";
import { READ_METHODS } from "./path.ts";
import { hasHost } from "./request.ts";
import { REQUEST_ID } from "./response.ts";
import { serveRoute } from "./rest/route.ts";
import { handleFastifyError, pathsToName, unmatched } from "./rest/unmatched.ts";
import { bindRoutes } from "./transcoding/routes.ts";
import { serveWeb, webPaths } from "./web/serve-web.ts";
import type { WebFile } from "./web/web-files.ts";

/** The parts of a gateway. */
export interface GatewayParts {
  /** The services whose annotated RPCs are served. */
  readonly services: readonly DescService[];
  /** Runs the calls. */
  readonly rpc: Rpc;
  /** Finds the address of a client. */
  readonly addresses: Addresses;
  /** The files of the pages, and the OpenAPI document, which are served without an API key; none by default. */
  readonly web?: readonly WebFile[] | undefined;
  /** Logs rejected requests. */
  readonly log: Log;
  /** Counts rejected requests; by default they are not counted. */
  readonly countRejection?: CountRejection | undefined;
  /** Follows every request that has a path; by default they are not followed. */
  readonly observeRequest?: ObserveHttpRequest | undefined;
  /** The origins whose scripts may call the gateway from a browser; none by default. */
  readonly corsOrigins?: readonly string[];
  /** The limits of HTTP that differ from the defaults. */
  readonly limits?: Partial<HttpLimits>;
  /** Open connections; by default as many as there are. */
  readonly maxConnections?: number;
  /** Counts connections that are closed or refused: `responseTimeout`, `tooManyConnections`, `acceptFailed`. */
  readonly report?: ReportEvent;
  /** TLS; without it, connections are not encrypted. */
  readonly tls?: PortTls | undefined;
}

/** A gateway. */
export type Gateway = ReturnType<typeof createGateway>;

/**
 * Makes the gateway of services. It does not listen yet. Throws an Error that names the RPC and
 * the reason if an annotation of a service cannot be served.
 */
export function createGateway(parts: GatewayParts) {
  const { rpc, log, countRejection, addresses, tls } = parts;
  const connections: Connections = new Map();
  const gateway = { rpc, log, countRejection, addresses, connections };
  const { limits = {}, maxConnections = Number.POSITIVE_INFINITY, report = () => {} } = parts;
  const http = { connections, limits, maxConnections, report, tls };
  const app = createApp(parts, gateway, http);
  return {
    /** The HTTP server. */
    server: app.server,
    /** Its connections with bytes that their clients have not read. */
    unread: () => unreadOf(connections),
    /** Listens on host and port (0 picks a free one). Resolves to the port. */
    async listen(host: string, port: number) {
      await app.listen({ host, port });
      return (app.server.address() as AddressInfo).port;
    },
    /**
     * Stops the gateway without losing a request. Resolves when the last connection is closed;
     * requests that are unfinished after `grace` ms are aborted.
     */
    stop: (grace: number) => shutDown(app, http, grace),
  };
}

function createApp(
  { services, web = [], observeRequest, corsOrigins = [] }: GatewayParts,
  gateway: GatewayContext,
  http: HttpServerParts,
): FastifyInstance {
  const routes = bindRoutes(services, CSV_ROWS);
  const paths = [
    ...routes.map(({ path }) => ({ path, methods: READ_METHODS })),
    ...services.flatMap(connectPaths),
    ...webPaths(web),
  ];
  const named = pathsToName(services, routes);
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    genReqId: (request) => requestIdFrom(request.headers[REQUEST_ID]),
    serverFactory: (handler) => createHttpServer(handler, http),
    frameworkErrors: handleFastifyError(gateway),
    // The binder parses the query, because it knows the parameters.
    routerOptions: { querystringParser: (raw) => ({ raw }) },
  });
  logClientErrors(gateway, app.server);
  if (observeRequest) {
    app.addHook("onRequest", (request, reply, done) => {
      reply.raw.once("close", () => {
        const { statusCode, headersSent } = reply.raw;
        observeRequest({
          method: request.method,
          route: request.is404 ? undefined : request.routeOptions.url,
          status: headersSent ? statusCode : undefined,
          milliseconds: reply.elapsedTime,
        });
      });
      done();
    });
  }
  if (corsOrigins.length > 0) allowOrigins(app, corsOrigins);
  // After the hook of CORS, so that a rejection has its headers too.
  app.after(() =>
    app.addHook("onRequest", (request, reply, done) => {
      if (!hasHost(request.raw)) {
        rejectRequest(gateway, reply, httpError(400, "expected one valid Host header"));
      } else if (request.is404 || request.method === "OPTIONS") {
        // Not in a not-found handler: Fastify would check the body's content type before that.
        rejectRequest(gateway, reply, unmatched(paths, named, request.raw.url ?? ""));
      } else {
        done();
      }
    }),
  );
  app.setErrorHandler(handleFastifyError(gateway));
  for (const route of routes) serveRoute(app, route, gateway);
  for (const service of services) serveConnect(app, service, gateway);
  serveWeb(app, web, gateway);
  return app;
}
