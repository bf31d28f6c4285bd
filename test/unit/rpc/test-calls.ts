/** A pipeline over a fake handler of one RPC, and calls through it. */
import { create } from "@bufbuild/protobuf";
import {
  type GetServerBreakdownRequest,
  GetServerBreakdownRequestSchema,
  GetServerBreakdownResponseSchema,
  RevenueService,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { generateKey } from "../../../src/auth/api-key.ts";
import { ServiceError } from "../../../src/errors.ts";
import type { CallerKey, Context } from "../../../src/handler.ts";
import type { AdmissionLimits } from "../../../src/rpc/admission.ts";
import type { WaitForTurn } from "../../../src/rpc/large-results.ts";
import { createRpc } from "../../../src/rpc/pipeline.ts";
import type { RateLimit } from "../../../src/rpc/rate-limit.ts";
import { findAnyProvider, providerKey } from "../../support/caller-key.ts";
import { collectLog } from "../../support/collected-log.ts";

/** The pipeline's time. */
export const NOW = Date.UTC(2026, 10, 20, 9, 30, 0, 123);
/** The key of all calls. */
const KEY = generateKey();

export interface Options {
  /** Provider 7 by default. */
  readonly authenticate?: () => Promise<CallerKey>;
  /** The values of `x-provider-id`; none by default. */
  readonly named?: readonly string[];
  /** The start of the handler, which then returns a response; nothing by default. */
  readonly handle?: (request: GetServerBreakdownRequest, context: Context) => Promise<void>;
  /** Returns an empty request by default. */
  readonly decode?: () => GetServerBreakdownRequest;
  readonly limits?: AdmissionLimits;
  /** How many servers the response has; none by default. */
  readonly servers?: number;
  readonly waitForTurn?: WaitForTurn;
  readonly rateLimit?: RateLimit | undefined;
  readonly deadline?: number;
  /** 10 s by default. */
  readonly maxCall?: number;
  readonly signal?: AbortSignal;
}

/** "ok", or the kind of the error. */
export function outcomeOf(response: Promise<unknown>): Promise<unknown> {
  return response.then(
    () => "ok",
    (thrown) => (thrown instanceof ServiceError ? thrown.kind : thrown),
  );
}

/** Creates a pipeline, ways to call it, and a record of the steps that its calls took. */
export function testCalls(options: Options = {}) {
  const steps: string[] = [];
  const collected = collectLog();
  const { getServerBreakdown } = RevenueService.method;
  const { servers = 0, waitForTurn, rateLimit } = options;
  const rpc = createRpc({
    service: { method: { getServerBreakdown } },
    handlers: {
      async getServerBreakdown(request, context) {
        steps.push("handle");
        await options.handle?.(request, context);
        return {
          message: create(GetServerBreakdownResponseSchema, {
            totalServers: 3,
            servers: Array(servers).fill({}),
          }),
          asOf: NOW,
        };
      },
    },
    authenticate: async () => {
      steps.push("authenticate");
      return (await options.authenticate?.()) ?? providerKey("7");
    },
    findProvider: findAnyProvider,
    log: collected.log,
    clock: () => NOW,
    limits: options.limits ?? { total: 1_000, perProvider: 250 },
    maxCall: options.maxCall ?? 10_000,
    ...(waitForTurn && { waitForTurn }),
    ...(rateLimit && { rateLimit }),
  });
  const accept = ({ deadline = Infinity, signal = new AbortController().signal } = options) =>
    rpc.accept({
      method: getServerBreakdown,
      protocol: "connect",
      requestId: "r-1",
      credentials: { xApiKey: [KEY], authorization: [], xProviderId: options.named ?? [] },
      address: "192.0.2.1",
      deadline,
      signal,
    });
  const call = async (overrides = options) => {
    const accepted = await accept(overrides);
    return accepted.run(() => {
      steps.push("decode");
      return overrides.decode?.() ?? create(GetServerBreakdownRequestSchema);
    });
  };
  const outcome = () => outcomeOf(call());
  return { accept, call, outcome, steps, ...collected };
}
