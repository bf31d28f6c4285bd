/** Clients of every protocol for one running service. */
import type { ServiceProcess } from "../service/service-process.ts";
import { createBufCurlClients } from "./buf-curl.ts";
import type { RpcClient } from "./client.ts";
import {
  createConnectClients,
  createConnectNodeGrpcClient,
  createGrpcWebClients,
} from "./connect-clients.ts";
import { createGrpcClient } from "./grpc-client.ts";
import { createRestClient } from "./rest-client.ts";

/** The names of all clients, for test tables that are written before the service runs. */
export const ALL_CLIENTS: readonly string[] = createClients("http://0.0.0.0", "0.0.0.0").map(
  ({ name }) => name,
);
/** The names of the clients that start no process for a call. */
export const FAST_CLIENTS = ALL_CLIENTS.filter((name) => !name.startsWith("buf"));
/** Those of `FAST_CLIENTS` that send a deadline with a call. */
export const DEADLINE_CLIENTS = FAST_CLIENTS.filter((name) => name !== "REST");

/** The clients of one service. */
export interface Clients {
  /** @throws Error if there is no client with this name */
  get(name: string): RpcClient;
  close(): void;
}

/** Creates every client of a service. Close them after the test. */
export function openClients({ http, grpc }: Pick<ServiceProcess, "http" | "grpc">): Clients {
  const clients = createClients(http, grpc);
  return {
    get(name) {
      const client = clients.find((candidate) => candidate.name === name);
      if (client === undefined) throw new Error(`unknown client ${name}`);
      return client;
    },
    close() {
      for (const client of clients) client.close();
    },
  };
}

function createClients(http: string, grpc: string): readonly RpcClient[] {
  return [
    createRestClient(http),
    ...createConnectClients(http),
    ...createGrpcWebClients(http),
    createGrpcClient(grpc),
    createConnectNodeGrpcClient(grpc),
    ...createBufCurlClients(http, grpc),
  ];
}
