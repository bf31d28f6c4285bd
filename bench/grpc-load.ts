/** Load over gRPC with grpc-js. Responses are counted, but not decoded. */
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { RevenueService } from "../gen/revenue/v1/revenue_pb.ts";

/** Returns a load generator for an RPC. It opens one connection per key. Throws on a gRPC error. */
export function grpcLoad(port: number, rpc: string, keys: readonly string[]) {
  const path = `/${RevenueService.typeName}/${rpc}`;
  return async (seconds: number): Promise<number> => {
    const end = performance.now() + seconds * 1_000;
    const counts = await Promise.all(
      keys.map(async (key) => {
        // By default, channels to the same address share a connection.
        const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
          "grpc.use_local_subchannel_pool": 1,
        });
        const metadata = new Metadata();
        metadata.set("x-api-key", key);
        let count = 0;
        for (; performance.now() < end; count++) await call(client, path, metadata);
        client.close();
        return count;
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  };
}

function call(client: Client, path: string, metadata: Metadata): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  client.makeUnaryRequest<Buffer, Buffer>(
    path,
    (bytes) => bytes,
    (bytes) => bytes,
    Buffer.alloc(0),
    metadata,
    (error, bytes) => (error ? reject(error) : resolve(bytes as Buffer)),
  );
  return promise;
}
