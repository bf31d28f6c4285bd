/** gRPC calls whose message is any bytes, right or wrong. */
import { type Client, Metadata, status } from "@grpc/grpc-js";
import type { MethodName } from "../request.ts";
import type { Outcome } from "./client.ts";

/** Calls an RPC with bytes in place of its request; the answer is shown as base64. */
export function callRaw(
  client: Client,
  method: MethodName,
  message: Uint8Array,
  headers: readonly (readonly [string, string])[],
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
    (error, answer) => {
      if (error === null) resolve({ answer: answer?.toString("base64") ?? "", head: {} });
      else resolve({ code: status[error.code] ?? "", message: error.details, head: {} });
    },
  );
  return promise;
}
