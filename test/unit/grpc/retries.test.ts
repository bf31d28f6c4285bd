/** gRPC's own retries (a retry policy in the service config of the client). */
import { expect, it, onTestFinished } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { callGrpc, grpcClient } from "../../support/clients/grpc-client.ts";
import { emptyResponse, listen } from "./grpc-server.ts";

const SERVICE_CONFIG = JSON.stringify({
  methodConfig: [
    {
      name: [{ service: "revenue.v1.RevenueService" }],
      retryPolicy: {
        maxAttempts: 3,
        initialBackoff: "0.01s",
        maxBackoff: "0.01s",
        backoffMultiplier: 1,
        retryableStatusCodes: ["UNAVAILABLE"],
      },
    },
  ],
});

it("a call that is UNAVAILABLE is repeated, and returns its request id with the last error", async () => {
  let failures = 3;
  const { port, calls } = await listen({}, async () => {
    if (failures-- > 0) throw new ServiceError("databaseUnavailable");
    return emptyResponse;
  });
  const client = grpcClient(`127.0.0.1:${port}`, { "grpc.service_config": SERVICE_CONFIG });
  onTestFinished(() => client.close());
  const headers = { "x-request-id": "mine" };
  const call = () => callGrpc(client, { method: "GetOverview", headers: Object.entries(headers) });
  expect(await call()).toMatchObject({ code: "UNAVAILABLE", headers });
  expect(calls).toHaveLength(3);
  failures = 2;
  expect(await call()).toMatchObject({ response: {}, headers });
  expect(calls).toHaveLength(6);
});
