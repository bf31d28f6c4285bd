/**
 * The gateway: a service's REST routes, Connect and gRPC-Web on one HTTP port. It is built
 * here and listens when it is told to (`app.listen`).
 */
import type { DescService } from "@bufbuild/protobuf";
import { type FastifyInstance, fastify } from "fastify";
import type { Rpc } from "../rpc/call.ts";
import { requestIdFrom } from "../rpc/request-id.ts";
import { connectPaths, serveConnect } from "./connect/connect.ts";
import { type Port, refuse } from "./context.ts";
import { httpError } from "./errors.ts";
import { createHttpServer, exchangesOf, HTTP_LIMITS } from "./http-server.ts";
import type { Log } from "./log.ts";
import { REQUEST_ID } from "./response.ts";
import { REST_METHODS, serveRoute } from "./rest/route.ts";
import { refused, unmatched } from "./rest/unmatched.ts";
import { manageDrain } from "./shutdown.ts";
import { handleClientError } from "./socket-response.ts";
import { bindRoutes } from "./transcoding/routes.ts";

/** What a gateway is made of. */
export interface GatewayParts {
  /** The service whose annotated RPCs are served. */
  readonly service: DescService;
  /** What answers the calls. */
  readonly rpc: Rpc;
  /** Where refused requests are logged; nowhere without it. */
  readonly log?: Log;
}

/**
 * Builds the gateway. Throws an Error that names the RPC and the reason where the service
 * cannot be served as it is annotated. `stop` (drain.ts) ends it.
 */
export function createGateway({ service, rpc, log }: GatewayParts): FastifyInstance {
  const port: Port = { rpc, log, draining: false };
  const routes = bindRoutes(service);
  const served = [
    ...routes.map(({ segments }) => ({ segments, methods: REST_METHODS })),
    ...connectPaths(service),
  ];
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    genReqId: (request) => requestIdFrom(request.headers[REQUEST_ID]),
    serverFactory: (handler) => createHttpServer(handler, port),
    clientErrorHandler: (error, socket) =>
      handleClientError(port, error, socket, exchangesOf(socket)),
    frameworkErrors: refused(port),
    routerOptions: {
      // A path's variable is as long as the headers' limit lets it be.
      maxParamLength: HTTP_LIMITS.maxHeaderSize,
      // The binder takes the query apart: it knows the parameters and says what is wrong.
      querystringParser: (raw) => ({ raw }),
    },
  });
  // No route of REST has a body, and what came with one all the same is not read.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.addHook("onRequest", (request, reply, done) => {
    // RFC 9112, section 3.2: a request of HTTP/1.1 names its host.
    if (request.raw.headers.host === undefined && request.raw.httpVersion === "1.1") {
      refuse(port, reply, httpError(400, "a request of HTTP/1.1 needs a Host header"));
    } else if (request.is404) {
      // Here, and not in a handler for it: Fastify would look at the body before that.
      refuse(port, reply, unmatched(served, request.raw.url ?? ""));
    } else {
      done();
    }
  });
  app.setErrorHandler(refused(port));
  for (const route of routes) serveRoute(app, route, port);
  serveConnect(app, service, port);
  manageDrain(app, port);
  return app;
}
