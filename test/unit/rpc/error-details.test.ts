/**
 * What programs branch on: the details and the metadata of errors, as the clients of each protocol read them. Which
 * errors have which reason is in docs/api.md, made of the catalogue, and compared by `npm run check`.
 */
import { createRegistry } from "@bufbuild/protobuf";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { expect, it } from "vitest";
import {
  BadRequestSchema,
  file_google_rpc_error_details,
} from "../../../gen/google/rpc/error_details_pb.ts";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError } from "../../../src/errors.ts";
import { listen as listenHttp } from "../gateway/gateway.ts";
import { listen as listenGrpc } from "../grpc/grpc-server.ts";

/** An error as a client reads it. */
async function read(transport: Transport) {
  const failed = await createClient(RevenueService, transport)
    .getOverview({})
    .then(() => expect.unreachable(), ConnectError.from);
  return {
    details: failed.findDetails(createRegistry(file_google_rpc_error_details)),
    pushback: failed.metadata.get("grpc-retry-pushback-ms"),
  };
}

const info = (reason: string) => ({
  $typeName: "google.rpc.ErrorInfo",
  reason,
  domain: "revenue-service",
  metadata: {},
});

it("each protocol has the reason, the field and when to retry; a fault has its reason alone", async () => {
  let error = new ServiceError("internal");
  const fail = () => {
    throw error;
  };
  const { url } = await listenHttp(RevenueService, fail);
  const http = { baseUrl: url, httpVersion: "1.1" } as const;
  const grpc = { baseUrl: `http://127.0.0.1:${(await listenGrpc({}, fail)).port}` };
  const violation = { field: "start_date", description: "startDate: why" };
  const retryDelay = { $typeName: "google.protobuf.Duration", seconds: 7n, nanos: 0 };
  for (const transport of [
    createConnectTransport(http),
    createConnectTransport({ ...http, useHttpGet: true }),
    createGrpcWebTransport(http),
    createGrpcTransport(grpc),
  ]) {
    const options = { field: "startDate", metadata: { "retry-after": "7" } };
    error = new ServiceError("rateLimited", "startDate: why", options);
    expect(await read(transport)).toMatchObject({
      details: [
        info("RATE_LIMITED"),
        { $typeName: BadRequestSchema.typeName, fieldViolations: [violation] },
        { $typeName: "google.rpc.RetryInfo", retryDelay },
      ],
      pushback: "7000",
    });
    error = new ServiceError("internal");
    expect(await read(transport)).toEqual({ details: [info("INTERNAL")], pushback: null });
  }
});
