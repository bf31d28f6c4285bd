/**
 * Connect and gRPC-Web: the same calls by the protocols of connectrpc.com, on the paths
 * `/package.Service/Method`. The protocols are Connect-ES's, mounted by its Fastify plugin;
 * here stands how they meet the port and the Rpc.
 */
import type { DescMessage, DescMethodUnary, DescService, MessageShape } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { createContextValues, type HandlerContext } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import type { FastifyInstance } from "fastify";
import { Failure } from "../failure.ts";
import type { Rpc } from "../rpc/call.ts";
import { commonHeaders } from "./answer.ts";
import { ARRIVAL, arrivalOf } from "./connect-arrival.ts";
import { connectError } from "./connect-error.ts";
import { courteous } from "./connect-handler.ts";
import { credentialsOf } from "./credentials.ts";
import { httpError } from "./errors.ts";
import { type Port, refuse } from "./port.ts";
import { isUnary } from "./routes.ts";
import type { Served } from "./unmatched.ts";

/** The largest request message, in bytes, compressed or not. */
const READ_MAX_BYTES = 64 * 1024;

/** Serves a service's unary RPCs: POST, and GET where the RPC has no side effects. */
export function serveConnect(app: FastifyInstance, service: DescService, port: Port): void {
  app.register(async (scope) => {
    scope.addHook("onRequest", (request, reply, done) => {
      // The plugin would leave a request without an answer whose URL it cannot make.
      const { host } = request.raw.headers;
      if (host === undefined || !URL.canParse(request.raw.url ?? "", `http://${host}`)) {
        refuse(port, reply, httpError(400, "the Host header names no host"));
        return;
      }
      reply.headers(commonHeaders(request.id, port.draining));
      done();
    });
    await scope.register(fastifyConnectPlugin, {
      grpc: false,
      readMaxBytes: READ_MAX_BYTES,
      contextValues: (request) =>
        createContextValues().set(ARRIVAL, {
          requestId: request.id,
          credentials: credentialsOf(request.raw.rawHeaders),
          called: false,
        }),
      requestGate: (context) => {
        const arrival = arrivalOf(context.values);
        if (arrival.refusal !== undefined) throw connectError(arrival.refusal);
        arrival.ended = context.signal;
      },
      routes: (router) => {
        for (const method of service.methods.filter(isUnary)) {
          router.rpc(method, (message, context) => call(method, message, context, port.rpc));
        }
        for (const [index, handler] of router.handlers.entries()) {
          router.handlers[index] = courteous(handler, port);
        }
      },
    });
  });
}

/** The paths of a service's unary RPCs, and the methods that Connect answers there. */
export function connectPaths(service: DescService): Served[] {
  return service.methods.filter(isUnary).map((method) => ({
    segments: [{ literal: service.typeName }, { literal: method.name }],
    methods:
      method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS
        ? ["GET", "POST"]
        : ["POST"],
  }));
}

async function call<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  message: MessageShape<I>,
  context: HandlerContext,
  rpc: Rpc,
): Promise<MessageShape<O>> {
  const arrival = arrivalOf(context.values);
  arrival.called = true;
  const timeout = context.timeoutMs();
  try {
    return await rpc.call({
      method,
      door: context.protocolName === "grpc-web" ? "grpc-web" : "connect",
      requestId: arrival.requestId,
      credentials: arrival.credentials,
      deadline: timeout === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeout,
      // Not the context's signal: it also aborts at the deadline, which the Rpc tells apart.
      signal: arrival.departure ?? context.signal,
      request: () => message,
    });
  } catch (thrown) {
    throw connectError(Failure.from(thrown));
  }
}
