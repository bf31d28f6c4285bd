/** What programs branch on: the details and the metadata of errors, as the clients of each protocol read them. */
import { createRegistry, type Message } from "@bufbuild/protobuf";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { expect, it } from "vitest";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  file_google_rpc_error_details,
} from "../../../gen/google/rpc/error_details_pb.ts";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError, type ServiceErrorKind } from "../../../src/errors.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { listen as listenHttp } from "../gateway/gateway.ts";
import { listen as listenGrpc, OVERVIEW } from "../grpc/grpc-server.ts";

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
  readonly pushback: string | null;
}

const http = async (fail: () => never) =>
  ({ baseUrl: (await listenHttp(RevenueService, fail)).url, httpVersion: "1.1" }) as const;
const grpc = async (fail: () => never) =>
  createGrpcTransport({ baseUrl: `http://127.0.0.1:${(await listenGrpc({}, fail)).port}` });
/** The clients of ports whose calls fail. */
const CLIENTS: Readonly<Record<string, (fail: () => never) => Promise<Transport>>> = {
  "Connect, JSON": async (fail) => createConnectTransport(await http(fail)),
  "Connect, GET": async (fail) =>
    createConnectTransport({ ...(await http(fail)), useHttpGet: true }),
  "gRPC-Web": async (fail) => createGrpcWebTransport(await http(fail)),
  gRPC: grpc,
};

/** An error as a client reads it. */
async function read(connect: (typeof CLIENTS)[string], error: ServiceError): Promise<Failed> {
  const transport = await connect(() => {
    throw error;
  });
  const failed = await createClient(RevenueService, transport)
    .getOverview({})
    .then(() => expect.unreachable(), ConnectError.from);
  return {
    details: failed.findDetails(createRegistry(file_google_rpc_error_details)),
    pushback: failed.metadata.get("grpc-retry-pushback-ms"),
  };
}

it.each(Object.entries(REASONS))("%s has its reason, and when to retry", async (kind, row) => {
  const [reason, seconds] = row;
  const metadata = kind === "rateLimited" ? { "retry-after": "7" } : {};
  const error = new ServiceError(kind as ServiceErrorKind, "why", { metadata });
  expect(await read(grpc, error)).toEqual({
    details: [info(reason), ...(seconds === undefined ? [] : [retry(seconds)])],
    pushback: seconds === undefined ? null : `${seconds}000`,
  });
});

it.each(Object.entries(CLIENTS))(
  "%s reads the reason, the field and when to retry",
  async (_, connect) => {
    const options = { field: "startDate", metadata: { "retry-after": "7" } };
    const error = new ServiceError("rateLimited", "startDate: why", options);
    const violation = { field: "start_date", description: "startDate: why" };
    const wrong = { $typeName: BadRequestSchema.typeName, fieldViolations: [violation] };
    expect(await read(connect, error)).toMatchObject({
      details: [info("RATE_LIMITED"), wrong, retry(7)],
      pushback: "7000",
    });
  },
);

it("a message that Connect-ES refuses has a reason too", async () => {
  const { url } = await listenHttp(RevenueService, () => expect.unreachable());
  const response = await rawHttp(url, {
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
  const { url } = await listenHttp(RevenueService, () => {
    throw new ServiceError("rateLimited", "why", { metadata: { "retry-after": "7" } });
  });
  const { text, headers } = await rawHttp(url, { target: "/api/provider/revenue" });
  expect(text).toBe('{"error":"Too Many Requests","message":"why"}');
  expect(headers).toMatchObject({ "retry-after": "7" });
  expect(Object.keys(headers).filter((name) => name.startsWith("grpc"))).toEqual([]);
});
