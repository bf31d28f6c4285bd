/** The gateway: a service over REST, Connect and gRPC-Web on one HTTP port. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { DescService } from "@bufbuild/protobuf";
import { type FastifyInstance, fastify } from "fastify";
import type { Addresses } from "../net/address.ts";
import type { AcceptConnection } from "../net/connection-limit.ts";
import type { UnreadLimit } from "../net/unread.ts";
import type { Rpc } from "../rpc/call.ts";
import { requestIdFrom } from "../rpc/request-id.ts";
import { connectPaths, serveConnect } from "./connect/connect.ts";
import { type GatewayContext, type Log, rejectRequest } from "./context.ts";
import { checkHost } from "./http/host.ts";
import { createHttpServer, type HttpServerParts } from "./http/http-server.ts";
import { HTTP_LIMITS, type HttpSettings } from "./http/limits.ts";
import { shutDown } from "./http/shutdown.ts";
import { handleClientError } from "./http/socket-response.ts";
import { unreadOf } from "./http/unread.ts";
import { REQUEST_ID } from "./response.ts";
import { REST_METHODS, serveRoute } from "./rest/route.ts";
import { handleFastifyError, unmatched } from "./rest/unmatched.ts";
import { bindRoutes } from "./transcoding/routes.ts";

/** The parts of a gateway. */
export interface GatewayParts {
  /** The service whose annotated RPCs are served. */
  readonly service: DescService;
  /** Runs the calls. */
  readonly rpc: Rpc;
  /** Finds the address of a client. */
  readonly addresses: Addresses;
  /** Logs rejected requests; by default they are not logged. */
  readonly log?: Log;
  /** The limits of HTTP that differ from the defaults. */
  readonly settings?: Partial<HttpSettings>;
  /** Counts a connection; by default all are accepted. */
  readonly acceptConnection?: AcceptConnection;
  /** Bounds what clients have not read; by default it has no bound. */
  readonly unread?: UnreadLimit;
  /** Counts connections that are closed: `responseTimeout`. */
  readonly report?: (event: string) => void;
}

/** A gateway. */
export interface Gateway {
  /** The HTTP server. */
  readonly server: Server;
  /** Listens on host and port (0 picks a free one). Resolves to the port. */
  listen(host: string, port: number): Promise<number>;
  /**
   * Stops the gateway without losing a request. Resolves when the last connection is closed;
   * requests that are unfinished after `grace` ms are aborted.
   */
  stop(grace: number): Promise<void>;
}

/**
 * Makes the gateway of a service. It does not listen yet. Throws an Error that names the RPC and
 * the reason if an annotation of the service cannot be served.
 */
export function createGateway({
  service,
  rpc,
  addresses,
  log,
  settings = {},
  acceptConnection = () => true,
  unread,
  report = () => {},
}: GatewayParts): Gateway {
  const gateway: GatewayContext = { rpc, log, addresses, connections: new Map(), draining: false };
  const app = createApp(service, { gateway, settings, acceptConnection, report });
  unread?.register(() => unreadOf(gateway.connections.keys()));
  return {
    server: app.server,
    async listen(host, port) {
      await app.listen({ host, port });
      return (app.server.address() as AddressInfo).port;
    },
    stop: (grace) => shutDown(app, gateway, grace),
  };
}

function createApp(service: DescService, parts: HttpServerParts): FastifyInstance {
  const { gateway } = parts;
  const routes = bindRoutes(service);
  const paths = [
    ...routes.map(({ segments }) => ({ segments, methods: REST_METHODS })),
    ...connectPaths(service),
  ];
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    genReqId: (request) => requestIdFrom(request.headers[REQUEST_ID]),
    serverFactory: (handler) => createHttpServer(handler, parts),
    clientErrorHandler: (error, socket) => handleClientError(gateway, error, socket),
    frameworkErrors: handleFastifyError(gateway),
    routerOptions: {
      // A path variable is limited by the size of the headers only.
      maxParamLength: HTTP_LIMITS.maxHeaderSize,
      // The binder parses the query, because it knows the parameters.
      querystringParser: (raw) => ({ raw }),
    },
  });
  // REST requests have no body. One that is sent all the same is not read.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.addHook("onRequest", (request, reply, done) => {
    const rejection = checkHost(request.raw);
    if (rejection !== undefined) {
      rejectRequest(gateway, reply, rejection);
    } else if (request.is404) {
      // Not in a not-found handler: Fastify would check the body's content type before that.
      rejectRequest(gateway, reply, unmatched(paths, request.raw.url ?? ""));
    } else {
      done();
    }
  });
  app.setErrorHandler(handleFastifyError(gateway));
  for (const route of routes) serveRoute(app, route, gateway);
  serveConnect(app, service, gateway);
  return app;
}
