/** Load over gRPC, by grpc-js; the answers are counted, but not decoded. */
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { RevenueService } from "../gen/revenue/v1/revenue_pb.ts";

/** Drives an RPC with as many connections as there are keys, each with one of them. */
export function driveGrpc(port: number, rpc: string, keys: readonly string[]) {
  const path = `/${RevenueService.typeName}/${rpc}`;
  return async (seconds: number): Promise<number> => {
    const end = performance.now() + seconds * 1_000;
    const counts = await Promise.all(
      keys.map(async (key) => {
        // A connection of its own: channels to one address share it by default.
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
