/** gRPC calls with arbitrary bytes as the request message. */
import { type Client, Metadata, status } from "@grpc/grpc-js";
import type { MethodName, RequestHeaders } from "../request.ts";
import type { Outcome } from "./client.ts";

/** Calls an RPC with bytes as its request message. The response is shown as base64. */
export function callRawGrpc(
  client: Client,
  method: MethodName,
  message: Uint8Array,
  headers: RequestHeaders,
): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const metadata = new Metadata();
  for (const [name, value] of headers) metadata.add(name, value);
  client.makeUnaryRequest(
    `/revenue.v1.RevenueService/${method}`,
    (bytes: Uint8Array) => Buffer.from(bytes),
    (bytes) => bytes,
    message,
    metadata,
    (error, response) => {
      if (error === null) resolve({ response: response?.toString("base64") ?? "", headers: {} });
      else resolve({ code: status[error.code] ?? "", message: error.details, headers: {} });
    },
  );
  return promise;
}
