/**
 * A peer: grpc-js alone. It asks the service once for each RPC, and answers all further calls with the
 * same bytes, from memory. No server on grpc-js can do less.
 */
import {
  Client,
  credentials,
  type handleUnaryCall,
  type Metadata,
  Server,
  ServerCredentials,
} from "@grpc/grpc-js";
import { RevenueService } from "../../gen/revenue/v1/revenue_pb.ts";

const service = new Client(
  `127.0.0.1:${process.env.UPSTREAM_GRPC_PORT}`,
  credentials.createInsecure(),
);
const pass = (bytes: Buffer) => bytes;
const responses = new Map<string, Promise<Buffer>>();

function ask(path: string, request: Buffer, metadata: Metadata): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  service.makeUnaryRequest(path, pass, pass, request, metadata, (error, response) => {
    if (error || response === undefined) reject(error);
    else resolve(response);
  });
  return promise;
}

const methods = RevenueService.methods.map(({ name }) => ({
  name,
  path: `/${RevenueService.typeName}/${name}`,
}));
const definition = methods.map(({ name, path }) => [
  name,
  {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: pass,
    requestDeserialize: pass,
    responseSerialize: pass,
    responseDeserialize: pass,
  },
]);
const handlers = methods.map(({ name, path }) => {
  const handle: handleUnaryCall<Buffer, Buffer> = ({ request, metadata }, callback) => {
    responses
      .getOrInsertComputed(path, () => ask(path, request, metadata))
      .then((response) => callback(null, response), callback);
  };
  return [name, handle];
});

const server = new Server({ "grpc.enable_channelz": 0 });
server.addService(Object.fromEntries(definition), Object.fromEntries(handlers));
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_error, grpcPort) => {
  console.log(JSON.stringify({ httpPort: 0, grpcPort }));
});
process.on("SIGTERM", () => process.exit(0));
