/** Clients of every protocol for one running service. */
import type { ServiceProcess } from "../service/service-process.ts";
import type { RpcClient } from "./client.ts";
import { createConnectClients } from "./connect-clients.ts";
import { createGrpcClient } from "./grpc-client.ts";
import { createRestClient } from "./rest-client.ts";

const createClients = (http: string, grpc: string): readonly RpcClient[] => [
  createRestClient(http),
  ...createConnectClients(http, grpc),
  createGrpcClient(grpc),
];

/** The names of all clients, for test tables that are written before the service runs. */
export const CLIENTS = createClients("http://0.0.0.0", "0.0.0.0").map(({ name }) => name);
/** Those that send a deadline with a call. */
export const DEADLINE_CLIENTS = CLIENTS.filter((name) => name !== "REST");

/** The clients of one service. */
export type Clients = ReturnType<typeof openClients>;

/** Creates every client of a service. Close them after the test. */
export function openClients({ http, grpc }: Pick<ServiceProcess, "http" | "grpc">) {
  const clients = createClients(http, grpc);
  return {
    /** @throws Error if there is no client with this name */
    get(name: string): RpcClient {
      const client = clients.find((candidate) => candidate.name === name);
      if (client === undefined) throw new Error(`unknown client ${name}`);
      return client;
    },
    close() {
      for (const client of clients) client.close();
    },
  };
}
