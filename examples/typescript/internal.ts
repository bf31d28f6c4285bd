/**
 * What support.ts and export.ts share: calls over gRPC with a service key, about any provider. Needs
 * REVENUE_GRPC (host:port) and REVENUE_SERVICE_KEY.
 */
import {
  create,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";

/** gRPC itself balances over the addresses of the service, and retries what it refused. */
const SERVICE_CONFIG = {
  loadBalancingConfig: [{ round_robin: {} }],
  methodConfig: [
    {
      name: [{ service: "revenue.v1.RevenueService" }],
      retryPolicy: {
        maxAttempts: 5,
        initialBackoff: "0.5s",
        maxBackoff: "5s",
        backoffMultiplier: 2,
        retryableStatusCodes: ["UNAVAILABLE", "RESOURCE_EXHAUSTED"],
      },
    },
  ],
};
/** The deadline of a call with all its retries, in ms. */
const DEADLINE = 15_000;

const { REVENUE_GRPC: address = "", REVENUE_SERVICE_KEY: key = "" } = process.env;
if (address === "" || key === "") {
  console.error("set the environment variables REVENUE_GRPC and REVENUE_SERVICE_KEY");
  process.exit(1);
}

// In production: credentials.createSsl() in place of createInsecure().
const client = new Client(`dns:///${address}`, credentials.createInsecure(), {
  "grpc.service_config": JSON.stringify(SERVICE_CONFIG),
});

/** Closes the connection. */
export const close = () => client.close();

/**
 * Calls an RPC about a provider.
 *
 * @param providerId `providers.id`, as digits: a number is not exact
 * @throws ServiceError of grpc-js: its `code` is NOT_FOUND if there is no such provider
 */
export function call<Method extends DescMethodUnary>(
  method: Method,
  providerId: string,
  request: MessageInitShape<Method["input"]>,
): Promise<MessageShape<Method["output"]>> {
  const metadata = new Metadata();
  metadata.set("x-api-key", key);
  metadata.set("x-provider-id", providerId);
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      `/${method.parent.typeName}/${method.name}`,
      (message: MessageShape<Method["input"]>) => Buffer.from(toBinary(method.input, message)),
      (bytes) => fromBinary(method.output, bytes),
      create(method.input, request),
      metadata,
      { deadline: Date.now() + DEADLINE },
      (error, message) => (error ? reject(error) : resolve(message as never)),
    );
  });
}
