/**
 * Valid exchanges of gRPC as the bytes that grpc-js sends: the client preface, SETTINGS, HEADERS
 * and DATA frames. They are recorded and then sent again on connections of their own.
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
  readonly answer: readonly string[];
  act(client: Client): Promise<unknown>;
}[] = [
  {
    name: "gRPC overview",
    answer: ["alpha"],
    act: (client) => callGrpc(client, OVERVIEW),
  },
  {
    name: "gRPC, two calls at once",
    answer: ["alpha", "alpha"],
    act: (client) => Promise.all([callGrpc(client, OVERVIEW), callGrpc(client, BREAKDOWN)]),
  },
  {
    name: "health Check",
    answer: [SERVING],
    act: (client) => checkHealth(client, SERVICE),
  },
  {
    name: "health Watch",
    answer: [SERVING],
    act(client) {
      const { seen } = watchHealth(client, SERVICE);
      return until(10_000, () => seen.length > 0);
    },
  },
  {
    name: "reflection",
    answer: [SERVICE],
    act: (client) => listServices(client, "v1"),
  },
];

/** The names of the exchanges, for tables of tests that are written before the service runs. */
export const GRPC_EXCHANGES: readonly string[] = EXCHANGES.map(({ name }) => name);

/** Records the exchange with a name at the gRPC port of a service. */
export async function recordGrpc(port: number, wanted: string): Promise<Exchange> {
  const exchange = EXCHANGES.find(({ name }) => name === wanted);
  if (exchange === undefined) throw new Error(`there is no exchange ${wanted}`);
  const { name, answer, act } = exchange;
  const bytes = await record(port, async (address) => {
    const client = grpcClient(address, { "grpc.default_authority": "revenue" });
    await act(client);
    return () => client.close();
  });
  return { name, protocol: "grpc", bytes, answer };
}
