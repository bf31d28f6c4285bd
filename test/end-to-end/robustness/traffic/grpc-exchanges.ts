/**
 * Valid gRPC exchanges as the bytes that grpc-js sends: the client preface, SETTINGS, HEADERS and
 * DATA frames. They are recorded once and replayed on other connections.
 */
import type { Client } from "@grpc/grpc-js";
import { callGrpc, grpcClient } from "../../../support/clients/grpc-client.ts";
import { checkHealth, watchHealth } from "../../../support/clients/health.ts";
import { listServices } from "../../../support/clients/reflection.ts";
import { until } from "../../../support/poll.ts";
import { type RpcRequest, withKey } from "../../../support/request.ts";
import type { Exchange } from "./exchanges.ts";
import { record } from "./recording.ts";
import { KEY } from "./target.ts";

/** HealthCheckResponse, SERVING. */
const SERVING = "\x08\x01";
const SERVICE = "revenue.v1.RevenueService";
const OVERVIEW: RpcRequest = { method: "GetOverview", headers: withKey(KEY) };
const BREAKDOWN: RpcRequest = {
  method: "GetServerBreakdown",
  message: { startDate: "2024-03-01", endDate: "2024-03-31" },
  headers: withKey(KEY),
};

const EXCHANGES: readonly {
  readonly name: string;
  readonly response: readonly string[];
  run(client: Client): Promise<unknown>;
}[] = [
  {
    name: "gRPC overview",
    response: ["alpha"],
    run: (client) => callGrpc(client, OVERVIEW),
  },
  {
    name: "gRPC, two calls at once",
    response: ["alpha", "alpha"],
    run: (client) => Promise.all([callGrpc(client, OVERVIEW), callGrpc(client, BREAKDOWN)]),
  },
  {
    name: "health Check",
    response: [SERVING],
    run: (client) => checkHealth(client, SERVICE),
  },
  {
    name: "health Watch",
    response: [SERVING],
    run(client) {
      const { statuses } = watchHealth(client, SERVICE);
      return until(10_000, () => statuses.length > 0);
    },
  },
  {
    name: "reflection",
    response: [SERVICE],
    run: (client) => listServices(client, "v1"),
  },
];

/** The names of the exchanges, for test tables that are written before the service runs. */
export const GRPC_EXCHANGES: readonly string[] = EXCHANGES.map(({ name }) => name);

/**
 * Records the exchange with this name at the gRPC port of a service.
 *
 * @throws Error if there is no such exchange
 */
export async function recordGrpc(port: number, wanted: string): Promise<Exchange> {
  const exchange = EXCHANGES.find(({ name }) => name === wanted);
  if (exchange === undefined) throw new Error(`unknown exchange ${wanted}`);
  const { name, response, run } = exchange;
  const bytes = await record(port, async (address) => {
    const client = grpcClient(address, { "grpc.default_authority": "revenue" });
    await run(client);
    return () => client.close();
  });
  return { name, protocol: "grpc", bytes, response };
}
