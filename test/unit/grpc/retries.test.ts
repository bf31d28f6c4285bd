/** gRPC's own retries, with the service config of the examples: no code of the caller's is involved. */
import { Metadata } from "@grpc/grpc-js";
import { expect, it, onTestFinished } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { rootFile } from "../../docs/markdown.ts";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { EMPTY, emptyResponse, listen, OVERVIEW } from "./grpc-server.ts";

/** Timers may fire so much early, in ms. */
const TOLERANCE = 2;

it("a call that is refused comes again, and not before the pushback, until it succeeds", async () => {
  const refusals = [
    new ServiceError("rateLimited", "later", { metadata: { "retry-after": "1" } }),
    new ServiceError("overloaded"),
  ];
  const pauses: number[] = [];
  let refused = Number.NEGATIVE_INFINITY;
  const { port } = await listen({}, async () => {
    pauses.push(performance.now() - refused);
    refused = performance.now();
    const refusal = refusals.shift();
    if (refusal !== undefined) throw refusal;
    return emptyResponse;
  });
  const config = rootFile("examples/go/service-config.json");
  const client = grpcClient(`127.0.0.1:${port}`, { "grpc.service_config": config });
  onTestFinished(() => client.close());
  const pass = (bytes: Buffer) => bytes;
  const message = EMPTY.subarray(5);
  const error = await new Promise((resolve) =>
    client.makeUnaryRequest(OVERVIEW, pass, pass, message, new Metadata(), resolve),
  );
  expect(error).toBeNull();
  expect(pauses).toHaveLength(3);
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1_000 - TOLERANCE);
});
