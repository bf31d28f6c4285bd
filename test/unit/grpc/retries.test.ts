/** gRPC's own retries, with the service config of the examples: no code of the caller's is involved. */
import { Metadata } from "@grpc/grpc-js";
import { expect, it, onTestFinished } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { rootFile } from "../../docs/markdown.ts";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { EMPTY, emptyResponse, listen, OVERVIEW } from "./grpc-server.ts";

it("a call that is refused comes again when the answer says, until it succeeds", async () => {
  const { port, calls } = await listen({}, async () => {
    if (calls.length > 2) return emptyResponse;
    throw new ServiceError("rateLimited", "later", { metadata: { "retry-after": "0" } });
  });
  // By itself it would wait for longer than a call may take.
  const config = rootFile("examples/go/service-config.json").replace(/(?<=Backoff": ").*s/g, "99s");
  const client = grpcClient(`127.0.0.1:${port}`, { "grpc.service_config": config });
  onTestFinished(() => client.close());
  const pass = (bytes: Buffer) => bytes;
  const message = EMPTY.subarray(5);
  const error = await new Promise((resolve) =>
    client.makeUnaryRequest(OVERVIEW, pass, pass, message, new Metadata(), resolve),
  );
  expect(error).toBeNull();
  expect(calls).toHaveLength(3);
});
