/** gRPC's own retries, with the service config of the examples: no code of the caller's is involved. */
import { Metadata, status } from "@grpc/grpc-js";
import { expect, it, onTestFinished } from "vitest";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError } from "../../../src/errors.ts";
import { createGrpcServer } from "../../../src/grpc/server.ts";
import { createAddresses } from "../../../src/net/address.ts";
import type { Rpc } from "../../../src/rpc/call.ts";
import { createRpc } from "../../../src/rpc/pipeline.ts";
import { createRateLimit } from "../../../src/rpc/rate-limit.ts";
import { rootFile } from "../../docs/markdown.ts";
import { findAnyProvider, providerKey } from "../../support/caller-key.ts";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { collectLog } from "../../support/collected-log.ts";
import { emptyResponse, OVERVIEW } from "./grpc-server.ts";

/** An attempt of a call, as the service sees it. Times are of `performance.now()`. */
interface Attempt {
  readonly call: string;
  readonly arrived: number;
  /** When it was refused. */
  refused?: number;
}

/** Serves a pipeline, and returns a client with the service config. */
async function serve(rpc: Rpc) {
  const attempts: Attempt[] = [];
  const accept = async (...[incoming]: Parameters<Rpc["accept"]>) => {
    const attempt: Attempt = { call: incoming.requestId, arrived: performance.now() };
    attempts.push(attempt);
    try {
      return await rpc.accept(incoming);
    } catch (error) {
      attempt.refused = performance.now();
      throw error;
    }
  };
  const server = createGrpcServer([RevenueService], { accept } as Rpc, createAddresses([]));
  const port = await server.listen("127.0.0.1", 0);
  const client = grpcClient(`127.0.0.1:${port}`, {
    "grpc.service_config": rootFile("examples/go/service-config.json"),
  });
  onTestFinished(async () => {
    client.close();
    await server.stop(0);
  });
  const pass = (bytes: Buffer) => bytes;
  /** Makes a call, and resolves to the name of its code. */
  const call = (id: string) => {
    const metadata = new Metadata();
    metadata.set("x-request-id", id);
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    client.makeUnaryRequest(OVERVIEW, pass, pass, Buffer.alloc(0), metadata, (error) =>
      resolve(status[error?.code ?? status.OK]),
    );
    return promise;
  };
  return { attempts, call };
}

/** Timers may fire so much early, in ms. */
const TOLERANCE = 2;

/** Expects each attempt but the first of a call to come a second after the one before was refused, or later. */
function expectPauses(attempts: readonly Attempt[]): void {
  for (const ofCall of Map.groupBy(attempts, ({ call }) => call).values()) {
    for (const [nth, { arrived }] of ofCall.entries()) {
      const before = ofCall[nth - 1]?.refused ?? Number.NEGATIVE_INFINITY;
      expect(arrived - before).toBeGreaterThanOrEqual(1_000 - TOLERANCE);
    }
  }
}

it("calls at three times the rate limit all succeed, and none comes again before the pushback", async () => {
  const rate = 20;
  // Nothing is refilled before a call is refused, however slowly they come.
  const clock = () => {
    const since = attempts.find(({ refused }) => refused !== undefined)?.refused;
    return since === undefined ? 0 : performance.now() - since;
  };
  const answer = async () => ({ message: emptyResponse, asOf: 0 });
  const rpc = createRpc({
    service: { method: { getOverview: RevenueService.method.getOverview } },
    handlers: { getOverview: answer },
    authenticate: async () => providerKey("1"),
    findProvider: findAnyProvider,
    log: collectLog().log,
    limits: { total: 1_000, perProvider: 1_000 },
    maxCall: 10_000,
    rateLimit: createRateLimit({ rate, burst: rate, clock }),
  });
  const { attempts, call } = await serve(rpc);
  const codes = await Promise.all(
    Array.from({ length: 3 * rate }, (_, nth) => call(`call-${nth}`)),
  );
  expect(codes).toEqual(codes.map(() => "OK"));
  expect(attempts.filter(({ refused }) => refused !== undefined).length).toBeGreaterThan(0);
  expectPauses(attempts);
});

it("a call that is refused as the service is overloaded is repeated, up to five times in all", async () => {
  const accept = async () => {
    throw new ServiceError("overloaded");
  };
  const { attempts, call } = await serve({ accept } as unknown as Rpc);
  expect(await call("call")).toBe("UNAVAILABLE");
  expect(attempts).toHaveLength(5);
  expectPauses(attempts);
});
