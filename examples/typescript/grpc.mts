/**
 * What the programs over gRPC share: calls with a provider's key, or with a service key about any provider. Needs
 * REVENUE_GRPC (host:port), and REVENUE_API_KEY or REVENUE_SERVICE_KEY.
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
      name: [
        { service: "revenue.v1.RevenueService" },
        { service: "revenue.v1.PlatformRevenueService" },
      ],
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

const { REVENUE_GRPC: address = "", REVENUE_API_KEY, REVENUE_SERVICE_KEY } = process.env;
if (address === "") exit("set the environment variable REVENUE_GRPC");

// In production: credentials.createSsl() in place of createInsecure().
const client = new Client(`dns:///${address}`, credentials.createInsecure(), {
  "grpc.service_config": JSON.stringify(SERVICE_CONFIG),
  // A breakdown of 20,000 servers with their instances is larger than the 4 MiB that clients accept by default.
  "grpc.max_receive_message_length": 64 * 1024 * 1024,
});

/** Closes the connection. */
export const close = () => client.close();

/**
 * Calls an RPC.
 *
 * @param providerId with a service key: `providers.id`, as digits, because a number is not exact. Not given for an RPC
 *   about all of them
 * @throws ServiceError of grpc-js: `code`, `details` and `metadata`; NOT_FOUND if there is no such provider
 */
export function call<Method extends DescMethodUnary>(
  method: Method,
  request: MessageInitShape<Method["input"]>,
  providerId?: string,
): Promise<MessageShape<Method["output"]>> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      `/${method.parent.typeName}/${method.name}`,
      (message: MessageShape<Method["input"]>) => Buffer.from(toBinary(method.input, message)),
      (bytes) => fromBinary(method.output, bytes),
      create(method.input, request),
      metadataOf(method.parent.typeName, providerId),
      { deadline: Date.now() + DEADLINE },
      (error, message) => (error ? reject(error) : resolve(message as never)),
    );
  });
}

/** A provider's key says about whom it asks; a service key asks about one that is named, or about all. */
function metadataOf(service: string, providerId: string | undefined): Metadata {
  const ofProvider = providerId === undefined && service === "revenue.v1.RevenueService";
  const name = ofProvider ? "REVENUE_API_KEY" : "REVENUE_SERVICE_KEY";
  const key = ofProvider ? REVENUE_API_KEY : REVENUE_SERVICE_KEY;
  if (!key) exit(`set the environment variable ${name}`);
  const metadata = new Metadata();
  metadata.set("x-api-key", key);
  if (providerId !== undefined) metadata.set("x-provider-id", providerId);
  return metadata;
}

function exit(message: string): never {
  console.error(message);
  process.exit(1);
}
