/** What programs branch on: the details and the metadata of errors, as the clients of each protocol read them. */
import { createRegistry, fromBinary, type Message } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { Metadata } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  file_google_rpc_error_details,
} from "../../../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.ts";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError, type ServiceErrorKind } from "../../../src/errors.ts";
import { createGrpcServer, type GrpcServer } from "../../../src/grpc/server.ts";
import { createAddresses } from "../../../src/net/address.ts";
import type { AcceptedCall, Rpc } from "../../../src/rpc/call.ts";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { openGateway, type TestGateway } from "../gateway/gateway.ts";
import { EMPTY, OVERVIEW } from "../grpc/grpc-server.ts";

/** The error of the next call. */
let failure: ServiceError;
const fail = () => {
  throw failure;
};

let gateway: TestGateway;
let grpcServer: GrpcServer;
let grpc: string;
beforeAll(async () => {
  gateway = await openGateway(RevenueService, fail);
  const accept = async (): Promise<AcceptedCall> => fail();
  grpcServer = createGrpcServer([RevenueService], { accept } as Rpc, createAddresses([]));
  grpc = `127.0.0.1:${await grpcServer.listen("127.0.0.1", 0)}`;
});
afterAll(async () => {
  await gateway?.stop(0);
  await grpcServer?.stop(0);
});

/** The reasons, and the seconds until a retry. They are part of the API: they do not change. */
const REASONS: Readonly<Record<ServiceErrorKind, readonly [reason: string, seconds?: number]>> = {
  invalidArgument: ["INVALID_ARGUMENT"],
  unauthenticated: ["UNAUTHENTICATED"],
  permissionDenied: ["PERMISSION_DENIED"],
  providerNotFound: ["PROVIDER_NOT_FOUND"],
  notFound: ["NOT_FOUND"],
  methodNotAllowed: ["METHOD_NOT_ALLOWED"],
  notAcceptable: ["NOT_ACCEPTABLE"],
  messageTooLarge: ["MESSAGE_TOO_LARGE"],
  unsupported: ["UNSUPPORTED"],
  tooManyFailures: ["TOO_MANY_FAILURES", 1],
  rateLimited: ["RATE_LIMITED", 7],
  tooManyCalls: ["TOO_MANY_CALLS", 1],
  overloaded: ["OVERLOADED", 1],
  databaseUnavailable: ["DATABASE_UNAVAILABLE"],
  deadlineExceeded: ["DEADLINE_EXCEEDED"],
  canceled: ["CANCELED"],
  internal: ["INTERNAL"],
};

function createError(kind: ServiceErrorKind): ServiceError {
  const metadata = kind === "rateLimited" ? { "retry-after": "7" } : {};
  return new ServiceError(kind, "why", { metadata, cause: new Error("secret") });
}

const info = (reason: string) => ({
  $typeName: "google.rpc.ErrorInfo",
  reason,
  domain: "revenue-service",
  metadata: {},
});
const retry = (seconds: number) => ({
  $typeName: "google.rpc.RetryInfo",
  retryDelay: { $typeName: "google.protobuf.Duration", seconds: BigInt(seconds), nanos: 0 },
});

interface Failed {
  readonly details: readonly Message[];
  readonly pushback: string | null | undefined;
}

/** The error of a call by Connect-ES. */
async function failedBy(transport: Transport): Promise<Failed> {
  const error = await createClient(RevenueService, transport)
    .getOverview({})
    .then(() => expect.unreachable(), ConnectError.from);
  return {
    details: error.findDetails(createRegistry(file_google_rpc_error_details)),
    pushback: error.metadata.get("grpc-retry-pushback-ms"),
  };
}

/** The error of a call by grpc-js, which leaves the details to its caller. */
function failedByGrpcJs(): Promise<Failed> {
  const client = grpcClient(grpc);
  const { promise, resolve } = Promise.withResolvers<Failed>();
  const pass = (bytes: Buffer) => bytes;
  const message = EMPTY.subarray(5);
  client.makeUnaryRequest(OVERVIEW, pass, pass, message, new Metadata(), (error) => {
    client.close();
    const [bytes] = error?.metadata.get("grpc-status-details-bin") ?? [];
    const status = fromBinary(StatusSchema, bytes as Buffer);
    expect(status).toMatchObject({ code: error?.code, message: error?.details });
    const registry = createRegistry(file_google_rpc_error_details);
    const details = status.details.map((any) => anyUnpack(any, registry) as Message);
    resolve({ details, pushback: error?.metadata.get("grpc-retry-pushback-ms")[0] as string });
  });
  return promise;
}

const http = () => ({ baseUrl: gateway.url, httpVersion: "1.1" as const });
const CLIENTS: Readonly<Record<string, () => Promise<Failed>>> = {
  "Connect, JSON": () => failedBy(createConnectTransport(http())),
  "Connect, GET": () => failedBy(createConnectTransport({ ...http(), useHttpGet: true })),
  "gRPC-Web": () => failedBy(createGrpcWebTransport(http())),
  "gRPC, connect-node": () => failedBy(createGrpcTransport({ baseUrl: `http://${grpc}` })),
  "gRPC, grpc-js": failedByGrpcJs,
};

it.each(Object.entries(REASONS))("%s has its reason, and when to retry", async (kind, row) => {
  failure = createError(kind as ServiceErrorKind);
  const [reason, seconds] = row;
  const { details, pushback } = await failedByGrpcJs();
  expect(details).toEqual([info(reason), ...(seconds === undefined ? [] : [retry(seconds)])]);
  expect(pushback ?? undefined).toBe(seconds === undefined ? undefined : `${seconds}000`);
});

it.each(Object.entries(CLIENTS))(
  "%s reads the reason, the field and when to retry",
  async (_, call) => {
    failure = new ServiceError("rateLimited", "startDate: why", {
      field: "startDate",
      metadata: { "retry-after": "7" },
    });
    const { details, pushback } = await call();
    const violation = { field: "start_date", description: "startDate: why" };
    const wrong = { $typeName: BadRequestSchema.typeName, fieldViolations: [violation] };
    expect(details).toMatchObject([info("RATE_LIMITED"), wrong, retry(7)]);
    expect(pushback).toBe("7000");
  },
);

it("a message that Connect-ES refuses has a reason too", async () => {
  const response = await rawHttp(gateway.url, {
    method: "POST",
    target: OVERVIEW,
    headers: [["content-type", "application/json"]],
    body: "[]",
  });
  expect(JSON.parse(response.text)).toMatchObject({
    code: "invalid_argument",
    details: [{ type: ErrorInfoSchema.typeName, debug: { reason: "INVALID_ARGUMENT" } }],
  });
});

it("REST has neither details nor gRPC's metadata", async () => {
  failure = createError("rateLimited");
  const { text, headers } = await rawHttp(gateway.url, { target: "/api/provider/revenue" });
  expect(text).toBe('{"error":"Too Many Requests","message":"why"}');
  expect(headers).toMatchObject({ "retry-after": "7" });
  expect(Object.keys(headers).filter((name) => name.startsWith("grpc"))).toEqual([]);
});
