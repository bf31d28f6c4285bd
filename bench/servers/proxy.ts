/**
 * A peer: the service's gateway in a separate process, with an `Rpc` that forwards calls to the
 * service's gRPC port through connect-node.
 */
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { RevenueService } from "../../gen/revenue/v1/revenue_pb.ts";
import { createGateway } from "../../src/gateway/server.ts";
import { createAddresses } from "../../src/net/address.ts";
import type { Rpc } from "../../src/rpc/call.ts";
import { createLog } from "../../src/telemetry/log.ts";

const client: Client<typeof RevenueService> = createClient(
  RevenueService,
  createGrpcTransport({ baseUrl: `http://127.0.0.1:${process.env.UPSTREAM_GRPC_PORT}` }),
);
const rpc: Rpc = {
  async accept({ method, credentials, signal }) {
    const call = client[method.localName as keyof typeof client] as (
      request: unknown,
      options: { headers: Record<string, string>; signal: AbortSignal },
    ) => Promise<never>;
    const headers = { "x-api-key": credentials.xApiKey[0] ?? "" };
    return {
      signal,
      metadata: {},
      run: async (decode) => ({
        message: await call(decode(), { headers, signal }),
        metadata: {},
      }),
      reject() {},
    };
  },
};
const gateway = createGateway({
  services: [RevenueService],
  rpc,
  addresses: createAddresses([]),
  log: createLog("error"),
});
const httpPort = await gateway.listen("127.0.0.1", 0);
console.log(JSON.stringify({ httpPort }));
process.on("SIGTERM", () => process.exit(0));
