/** Every door of a running service. */

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

/** The names of all clients, for tables of tests that are written before the service runs. */
export const CLIENTS: readonly string[] = doorsAt("http://0.0.0.0", "0.0.0.0").map(
  (door) => door.name,
);
/** Those that cost no process of their own. */
export const QUICK_CLIENTS = CLIENTS.filter((name) => !name.startsWith("buf"));

/** The clients of a service, by their names. `close` them at the end. */
export interface Clients {
  named(name: string): RpcClient;
  close(): void;
}

export function openClients({ http, grpc }: Pick<ServiceProcess, "http" | "grpc">): Clients {
  const clients = doorsAt(http, grpc);
  return {
    named(name) {
      const door = clients.find((one) => one.name === name);
      if (door === undefined) throw new Error(`there is no door ${name}`);
      return door;
    },
    close() {
      for (const door of clients) door.close();
    },
  };
}

function doorsAt(http: string, grpc: string): readonly RpcClient[] {
  return [
    createRestClient(http),
    ...createConnectClients(http),
    ...createGrpcWebClients(http),
    createGrpcClient(grpc),
    createConnectNodeGrpcClient(grpc),
    ...createBufCurlClients(http, grpc),
  ];
}
