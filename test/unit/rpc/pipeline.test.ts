import { create } from "@bufbuild/protobuf";
import { describe, expect, it, vi } from "vitest";
import {
  type GetServerBreakdownRequest,
  GetServerBreakdownRequestSchema,
  GetServerBreakdownResponseSchema,
  RevenueService,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { generateKey } from "../../../src/auth/api-key.ts";
import { ServiceError } from "../../../src/errors.ts";
import type { Context } from "../../../src/revenue/context.ts";
import type { AdmissionBounds } from "../../../src/rpc/admission.ts";
import { createRpc } from "../../../src/rpc/pipeline.ts";
import { collectLog } from "../../support/collected-log.ts";

const NOW = Date.UTC(2026, 10, 20, 9, 30, 0, 123);
const KEY = generateKey();

interface Behaviour {
  readonly authenticate?: () => Promise<{ providerId: string }>;
  readonly run?: (request: GetServerBreakdownRequest, context: Context) => Promise<void>;
  readonly request?: () => GetServerBreakdownRequest;
  readonly bounds?: AdmissionBounds;
  readonly deadline?: number;
  readonly signal?: AbortSignal;
}

/** A service of one caller, provider 7, and a way to call it; the steps taken are noted. */
function createCalls(behaviour: Behaviour = {}) {
  const steps: string[] = [];
  const collected = collectLog();
  const rpc = createRpc({
    service: RevenueService,
    functions: {
      getOverview: () => Promise.reject(new Error("not asked for")),
      async getServerBreakdown(request, context) {
        steps.push("run");
        await behaviour.run?.(request, context);
        return create(GetServerBreakdownResponseSchema, { totalServers: 3 });
      },
    },
    authenticate: async () => {
      steps.push("authenticate");
      return (await behaviour.authenticate?.()) ?? { providerId: "7" };
    },
    log: collected.log,
    clock: () => NOW,
    ...(behaviour.bounds ? { bounds: behaviour.bounds } : {}),
  });
  const call = (overrides: Behaviour = behaviour) =>
    rpc
      .accept({
        method: RevenueService.method.getServerBreakdown,
        protocol: "connect",
        requestId: "r-1",
        credentials: { xApiKey: [KEY], authorization: [] },
        deadline: overrides.deadline ?? Infinity,
        signal: overrides.signal ?? new AbortController().signal,
      })
      .then((accepted) =>
        accepted.run(() => {
          steps.push("decode");
          return overrides.request?.() ?? create(GetServerBreakdownRequestSchema);
        }),
      );
  /** What became of a call: "ok", or the failure's kind. */
  const outcome = (overrides?: Behaviour) =>
    call(overrides).then(
      () => "ok",
      (thrown) => (thrown instanceof ServiceError ? thrown.kind : thrown),
    );
  return { call, outcome, steps, ...collected };
}

describe("a call", () => {
  it("is authenticated, decoded and run, in this order, and answered", async () => {
    const { call, steps } = createCalls();
    expect(await call()).toMatchObject({ totalServers: 3 });
    expect(steps).toEqual(["authenticate", "decode", "run"]);
  });

  it("gives its function the request, the caller, the one instant and the limits", async () => {
    const run = vi.fn<NonNullable<Behaviour["run"]>>().mockResolvedValue();
    const { call } = createCalls({ run });
    const request = create(GetServerBreakdownRequestSchema, { startDate: "2026-11-01" });
    await call({ request: () => request });
    expect(run).toHaveBeenCalledExactlyOnceWith(request, {
      caller: { providerId: "7" },
      now: NOW,
      signal: expect.any(AbortSignal),
    });
  });

  it("shares its run with calls that ask the same alone", async () => {
    const asked: string[] = [];
    const { call } = createCalls({
      run: async ({ startDate }) => {
        asked.push(startDate);
        await new Promise((resolve) => setTimeout(resolve, 20));
      },
    });
    const days = ["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"];
    const requests = [...days, ...days, ...days, ...days].map((startDate) =>
      create(GetServerBreakdownRequestSchema, { startDate }),
    );
    await Promise.all(requests.map((request) => call({ request: () => request })));
    // Of the four that ask for each day two run at once, and two share the next run.
    expect(asked.sort()).toEqual(days.flatMap((day) => [day, day, day]));
  });

  it("without a valid key is not decoded: a bad key with a bad request is a bad key", async () => {
    const { outcome, steps } = createCalls({
      authenticate: () => Promise.reject(new ServiceError("unauthenticated")),
      request: () => {
        throw new ServiceError("invalidArgument");
      },
    });
    expect(await outcome()).toBe("unauthenticated");
    expect(steps).toEqual(["authenticate"]);
  });

  it("that cannot be decoded is not run", async () => {
    const { outcome, steps } = createCalls({
      request: () => {
        throw new ServiceError("invalidArgument");
      },
    });
    expect(await outcome()).toBe("invalidArgument");
    expect(steps).toEqual(["authenticate", "decode"]);
  });

  it("whose caller has gone before does nothing at all", async () => {
    const { outcome, steps } = createCalls({ signal: AbortSignal.abort() });
    expect(await outcome()).toBe("canceled");
    expect(steps).toEqual([]);
  });

  it("rejects with a failure whatever is thrown, which then is its cause", async () => {
    const fault = new TypeError("x is undefined");
    const failure = await createCalls({ run: () => Promise.reject(fault) })
      .call()
      .catch((thrown) => thrown);
    expect(failure).toBeInstanceOf(ServiceError);
    expect([failure.kind, failure.cause]).toEqual(["internal", fault]);
    expect(failure.message).toBe("an error occurred while retrieving revenue data");
  });

  it("ends with its limits: when it is over, its caller's going away aborts nothing", async () => {
    const caller = new AbortController();
    let signal: AbortSignal | undefined;
    const { call } = createCalls({
      signal: caller.signal,
      run: async (_, context) => {
        signal = context.signal;
      },
    });
    await call();
    caller.abort();
    expect(signal?.aborted).toBe(false);
  });
});

describe("a call too many", () => {
  it("in all is refused before it is authenticated, and the next is let in afterwards", async () => {
    const gate = Promise.withResolvers<void>();
    const bounds = { total: 1, perProvider: 1 };
    const { outcome, steps } = createCalls({ bounds, run: () => gate.promise });
    const first = outcome();
    expect(await outcome()).toBe("overloaded");
    expect(await outcome()).toBe("overloaded"); // refusing one made no room for another
    expect(steps).toEqual(["authenticate", "decode", "run"]);
    gate.resolve();
    expect([await first, await outcome()]).toEqual(["ok", "ok"]);
  });

  it("of a provider is refused before it is decoded, and the next is let in afterwards", async () => {
    const gate = Promise.withResolvers<void>();
    const bounds = { total: 9, perProvider: 1 };
    const { outcome, steps } = createCalls({ bounds, run: () => gate.promise });
    const first = outcome();
    await vi.waitUntil(() => steps.includes("run"));
    expect(await outcome()).toBe("tooManyCalls");
    expect(steps).toEqual(["authenticate", "decode", "run", "authenticate"]);
    gate.resolve();
    expect([await first, await outcome()]).toEqual(["ok", "ok"]);
  });

  it.each<[string, Behaviour, string]>([
    [
      "refused",
      { authenticate: () => Promise.reject(new ServiceError("unauthenticated")) },
      "unauthenticated",
    ],
    ["failed", { run: () => Promise.reject(new Error("x")) }, "internal"],
    ["abandoned", { signal: AbortSignal.abort() }, "canceled"],
  ])("is not counted after it was %s", async (_, behaviour, kind) => {
    const { outcome } = createCalls({ ...behaviour, bounds: { total: 1, perProvider: 1 } });
    for (let i = 0; i < 5; i++) expect(await outcome()).toBe(kind);
  });
});

describe("the log", () => {
  const LINE = { requestId: "r-1", protocol: "connect", method: "GetServerBreakdown" };

  it("has one line for each call, with its provider and its code", async () => {
    const { call, entries } = createCalls();
    await call();
    expect(entries()).toEqual([
      { level: "info", ...LINE, providerId: "7", code: "OK", ms: expect.any(Number), msg: "call" },
    ]);
  });

  it("names the provider of a request that could not be decoded", async () => {
    const { outcome, entries } = createCalls({
      request: () => {
        throw new ServiceError("invalidArgument", 'startDate is "x"');
      },
    });
    await outcome();
    expect(entries()).toMatchObject([{ providerId: "7", code: "INVALID_ARGUMENT" }]);
  });

  it("never has a key or what the request said in it, whatever becomes of the call", async () => {
    const said = "2026-11-01T01:02:03Z";
    const request = () => create(GetServerBreakdownRequestSchema, { startDate: said });
    const fail = (failure: Error) => ({ request, run: () => Promise.reject(failure) });
    for (const behaviour of [
      { request },
      fail(new ServiceError("invalidArgument", `startDate is "${said}"`)),
      fail(new ServiceError("databaseUnavailable", undefined, { cause: new Error("gone") })),
      { request, authenticate: () => Promise.reject(new ServiceError("unauthenticated")) },
    ]) {
      const { outcome, lines } = createCalls(behaviour);
      await outcome();
      expect(lines).toHaveLength(1);
      expect(lines.join()).not.toContain(KEY.slice(4));
      expect(lines.join()).not.toContain(said);
    }
  });
});
