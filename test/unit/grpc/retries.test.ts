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

/** Calls a server whose first `failures` calls fail. */
async function callWithRetries(failures: number) {
  const { port, calls } = await listen({}, async () => {
    if (calls.length <= failures) throw new ServiceError("databaseUnavailable");
    return emptyResponse;
  });
  const client = grpcClient(`127.0.0.1:${port}`, { "grpc.service_config": SERVICE_CONFIG });
  onTestFinished(() => client.close());
  const headers = [["x-request-id", "mine"]] as const;
  return { calls, outcome: await callGrpc(client, { method: "GetOverview", headers }) };
}

it("a call that is UNAVAILABLE twice is answered at the third attempt", async () => {
  const { calls, outcome } = await callWithRetries(2);
  expect(calls).toHaveLength(3);
  expect(outcome).toMatchObject({ response: {}, headers: { "x-request-id": "mine" } });
});

it("a call that fails at each attempt returns its request id with the error", async () => {
  const { calls, outcome } = await callWithRetries(3);
  expect(calls).toHaveLength(3);
  expect(outcome).toMatchObject({ code: "UNAVAILABLE", headers: { "x-request-id": "mine" } });
});
