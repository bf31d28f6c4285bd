/**
 * Connect and gRPC-Web on the paths `/package.Service/Method`. Connect-ES implements the
 * protocols; this file mounts them and hands their calls to the pipeline.
 *
 * A call is admitted and authenticated in the request gate, before its message is read.
 *
 * @see https://connectrpc.com/docs/protocol
 */
import type { IncomingMessage } from "node:http";
import type { DescMethodUnary, DescService, Message } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { createContextValues, type HandlerContext } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import type { FastifyInstance } from "fastify";
import { ServiceError } from "../../errors.ts";
import type { IncomingCall } from "../../rpc/call.ts";
import { closeSignalOf } from "../close-signal.ts";
import { type Port, refuse } from "../context.ts";
import { credentialsOf } from "../credentials.ts";
import { commonHeaders } from "../response.ts";
import type { Served } from "../rest/unmatched.ts";
import { isUnary } from "../transcoding/routes.ts";
import { CALL, type ConnectCall, callOf } from "./call.ts";
import { connectError, decodingError } from "./error.ts";
import { refusalOf } from "./request-check.ts";
import { removeEndlessTimeout } from "./timeout.ts";

/** The largest request message, in bytes, compressed or not. */
const READ_MAX_BYTES = 64 * 1024;

/** Serves a service's unary RPCs: POST, and GET for RPCs without side effects. */
export function serveConnect(app: FastifyInstance, service: DescService, port: Port): void {
  const methods = service.methods.filter(isUnary);
  const allowed = new Map(methods.map((method) => [pathOf(method), allowedMethods(method)]));
  const calls = new WeakMap<IncomingMessage, ConnectCall>();
  app.register(async (scope) => {
    scope.addHook("onRequest", (request, reply, done) => {
      const { raw } = request;
      const refusal = refusalOf(raw, allowed.get(request.routeOptions.url ?? "") ?? []);
      if (refusal !== undefined) {
        refuse(port, reply, refusal);
        return;
      }
      removeEndlessTimeout(raw.headers);
      calls.set(raw, {
        requestId: request.id,
        credentials: credentialsOf(raw.rawHeaders),
        signal: closeSignalOf(reply.raw),
      });
      reply.headers(commonHeaders(request.id, port.draining));
      done();
    });
    await scope.register(fastifyConnectPlugin, {
      grpc: false,
      readMaxBytes: READ_MAX_BYTES,
      contextValues: ({ raw }) => createContextValues().set(CALL, calls.get(raw)),
      requestGate: (context) => accept(port, callOf(context.values), context),
      routes: (router) => {
        for (const method of methods) {
          router.rpc(method, (message, { values }) => run(callOf(values), message));
        }
      },
    });
  });
}

/** The paths of a service's unary RPCs, and the HTTP methods that Connect allows there. */
export function connectPaths(service: DescService): Served[] {
  return service.methods.filter(isUnary).map((method) => ({
    segments: [{ literal: service.typeName }, { literal: method.name }],
    methods: allowedMethods(method),
  }));
}

function pathOf({ parent, name }: DescMethodUnary): string {
  return `/${parent.typeName}/${name}`;
}

function allowedMethods({ idempotency }: DescMethodUnary): readonly string[] {
  return idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS
    ? ["GET", "POST"]
    : ["POST"];
}

/** Admits and authenticates a call, and ends it if its message turns out to be malformed. */
async function accept(port: Port, call: ConnectCall, context: HandlerContext): Promise<void> {
  try {
    const accepted = await port.rpc.accept(incomingCall(call, context));
    call.accepted = accepted;
    const end = (reason: unknown) => {
      if (!call.ran) accepted.reject(decodingError(reason));
    };
    context.signal.addEventListener("abort", () => end(context.signal.reason), { once: true });
    accepted.signal.addEventListener("abort", () => end(accepted.signal.reason), { once: true });
  } catch (thrown) {
    throw connectError(ServiceError.from(thrown));
  }
}

async function run(call: ConnectCall, message: Message): Promise<Message> {
  try {
    if (call.accepted === undefined) throw new Error("the call did not pass the request gate");
    call.ran = true;
    return await call.accepted.run(() => message);
  } catch (thrown) {
    throw connectError(ServiceError.from(thrown));
  }
}

function incomingCall(call: ConnectCall, context: HandlerContext): IncomingCall {
  const timeout = context.timeoutMs();
  return {
    method: context.method as DescMethodUnary,
    protocol: context.protocolName === "grpc-web" ? "grpc-web" : "connect",
    requestId: call.requestId,
    credentials: call.credentials,
    deadline: timeout === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeout,
    // Not the context's signal, which also aborts at the deadline and at the end of the call.
    signal: call.signal,
  };
}
