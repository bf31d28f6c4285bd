/**
 * Connect and gRPC-Web on the paths `/package.Service/Method`. Connect-ES implements the protocols;
 * this file mounts them and passes their calls to the pipeline.
 *
 * Calls are admitted and authenticated in the request gate, before their message is read.
 *
 * @see https://connectrpc.com/docs/protocol
 */
import type { IncomingMessage } from "node:http";
import type { DescMethodUnary, DescService, Message } from "@bufbuild/protobuf";
import { createContextValues, type HandlerContext } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import type { FastifyInstance } from "fastify";
import { MAX_MESSAGE_BYTES, ServiceError } from "../../errors.ts";
import type { IncomingCall } from "../../rpc/call.ts";
import { type GatewayContext, rejectRequest } from "../context.ts";
import type { ServedPath } from "../path.ts";
import { addressOf, closeSignalOf, credentialsOf, traceHeadersOf } from "../request.ts";
import { commonHeaders } from "../response.ts";
import { CALL, type ConnectCall, callOf } from "./call.ts";
import { sharedGzip } from "./compression.ts";
import { connectError, refusalOf } from "./error.ts";
import { checkRequest, METHODS } from "./request-check.ts";
import { takeTimeout } from "./timeout.ts";

/** Serves the unary RPCs of a service. */
export function serveConnect(
  app: FastifyInstance,
  service: DescService,
  gateway: GatewayContext,
): void {
  const methods = unaryMethods(service);
  const calls = new WeakMap<IncomingMessage, ConnectCall>();
  app.register(async (scope) => {
    scope.addHook("onRequest", (request, reply, done) => {
      const { raw } = request;
      const rejection = checkRequest(raw);
      if (rejection !== undefined) {
        rejectRequest(gateway, reply, rejection);
        return;
      }
      calls.set(raw, {
        requestId: request.id,
        credentials: credentialsOf(raw.rawHeaders),
        address: addressOf(gateway.addresses, raw),
        deadline: Date.now() + takeTimeout(raw.headers),
        signal: closeSignalOf(reply.raw),
        trace: traceHeadersOf(raw),
        response: reply.raw,
      });
      reply.headers(commonHeaders(request.id));
      done();
    });
    await scope.register(fastifyConnectPlugin, {
      grpc: false,
      readMaxBytes: MAX_MESSAGE_BYTES,
      acceptCompression: [sharedGzip],
      contextValues: ({ raw }) => createContextValues().set(CALL, calls.get(raw)),
      requestGate: (context) => accept(gateway, callOf(context.values), context),
      routes: (router) => {
        for (const method of methods) {
          router.rpc(method, (message, { values, responseHeader }) =>
            run(callOf(values), message, responseHeader),
          );
        }
      },
    });
  });
}

/** The paths of a service's unary RPCs, and the HTTP methods that Connect allows on them. */
export function connectPaths(service: DescService): ServedPath[] {
  return unaryMethods(service).map((method) => ({
    path: `/${service.typeName}/${method.name}`,
    methods: METHODS,
  }));
}

function unaryMethods(service: DescService): DescMethodUnary[] {
  return service.methods.filter(
    (method): method is DescMethodUnary => method.methodKind === "unary",
  );
}

/**
 * Admits and authenticates a call, and rejects it if Connect-ES refuses its message. A call
 * whose message never arrives is ended by the pipeline, at its deadline.
 */
async function accept(
  gateway: GatewayContext,
  call: ConnectCall,
  context: HandlerContext,
): Promise<void> {
  try {
    const accepted = await gateway.rpc.accept(incomingCall(call, context));
    call.accepted = accepted;
    for (const [name, value] of Object.entries(accepted.metadata)) {
      context.responseHeader.set(name, value);
    }
    const reject = () => {
      if (call.ran) return;
      accepted.reject(refusalOf(context.signal.reason));
      // Connect-ES may have left the body unread, and Node would wait for the rest.
      call.response.setHeader("connection", "close");
    };
    context.signal.addEventListener("abort", reject, { once: true });
  } catch (thrown) {
    throw failure(call, thrown);
  }
}

/** Runs a call once its message is decoded. */
async function run(call: ConnectCall, message: Message, headers: Headers): Promise<Message> {
  try {
    if (call.accepted === undefined) throw new Error("the request gate did not accept the call");
    call.ran = true;
    const response = await call.accepted.run(() => message);
    for (const [name, value] of Object.entries(response.metadata)) headers.set(name, value);
    return response.message;
  } catch (thrown) {
    throw failure(call, thrown);
  }
}

/**
 * The error to send. One that means 503 is the last response of its connection, also over gRPC-Web, whose
 * HTTP status is always 200.
 */
function failure({ response }: ConnectCall, thrown: unknown) {
  const error = ServiceError.from(thrown);
  if (error.entry.status === 503) response.setHeader("connection", "close");
  return connectError(error);
}

function incomingCall(call: ConnectCall, context: HandlerContext): IncomingCall {
  return {
    method: context.method as DescMethodUnary,
    protocol: context.protocolName === "grpc-web" ? "grpc-web" : "connect",
    requestId: call.requestId,
    credentials: call.credentials,
    address: call.address,
    deadline: call.deadline,
    // Not the context's signal, which also aborts at every end of the call.
    signal: call.signal,
    trace: call.trace,
  };
}
