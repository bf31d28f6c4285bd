/** A client of the standard health service: https://github.com/grpc/grpc/blob/master/doc/health-checking.md */
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  Health,
  type HealthCheckResponse,
  HealthCheckResponse_ServingStatusSchema,
} from "../../../gen/health/v1/health_pb.ts";

/** The health of the server at a gRPC address, and of its services by name; "" is the server. */
export function healthOf(address: string) {
  const client = createClient(Health, createGrpcTransport({ baseUrl: `http://${address}` }));
  return {
    /** The status of a service. Rejects with a `ConnectError`. */
    check: async (service: string) => statusName(await client.check({ service })),
    /** The statuses of a service from now on. Its `return` cancels the call. */
    async *watch(service: string): AsyncGenerator<string> {
      for await (const response of client.watch({ service })) yield statusName(response);
    },
  };
}

function statusName(response: HealthCheckResponse): string {
  return HealthCheckResponse_ServingStatusSchema.value[response.status]?.name ?? "?";
}
