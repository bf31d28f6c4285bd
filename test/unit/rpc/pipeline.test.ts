import { create, fromBinary } from "@bufbuild/protobuf";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { GetServerBreakdownRequestSchema } from "../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError } from "../../../src/errors.ts";
import { providerKey } from "../../support/caller-key.ts";
import { until } from "../../support/poll.ts";
import { NOW, type Options, outcomeOf, testCalls } from "./test-calls.ts";

const unauthenticated = () => Promise.reject(new ServiceError("unauthenticated"));
const malformed = () => {
  throw new ServiceError("invalidArgument");
};

describe("a call", () => {
  it("is authenticated, decoded and handled, in this order, and answered as of an instant", async () => {
    const handle = vi.fn<NonNullable<Options["handle"]>>().mockResolvedValue();
    const { call, steps } = testCalls({ handle });
    const request = create(GetServerBreakdownRequestSchema, { startDate: "2026-11-01" });
    expect(await call({ decode: () => request })).toMatchObject({
      message: { totalServers: 3 },
      metadata: { "data-as-of": "2026-11-20T09:30:00.123Z" },
    });
    expect(steps).toEqual(["authenticate", "decode", "handle"]);
    expect(handle).toHaveBeenCalledExactlyOnceWith(request, {
      caller: { providerId: "7", share: "7" },
      signal: expect.any(AbortSignal),
      deadline: expect.any(Number),
    });
  });

  it("is coalesced with calls of the same request and the same provider only, whatever else a message has", async () => {
    const asked = ["7 2026-11-01", "7 2026-11-02", "8 2026-11-01", "7 2026-11-01"];
    let accepted = 0;
    const handled: string[] = [];
    const { call } = testCalls({
      authenticate: async () => providerKey(asked[accepted++]?.charAt(0) ?? ""),
      handle: async ({ startDate }, { caller }) => {
        handled.push(`${caller.providerId} ${startDate}`);
      },
    });
    const calls = asked.map(async (question, nth) => {
      // Field 999, a varint, which the contract does not have.
      const request = fromBinary(GetServerBreakdownRequestSchema, Uint8Array.of(0xb8, 0x3e, nth));
      request.startDate = question.slice(2);
      await call({ decode: () => request });
    });
    await Promise.all(calls);
    expect(handled).toEqual(asked.slice(0, 3));
  });

  it("without a valid key is not decoded: a bad key with a bad request is unauthenticated", async () => {
    const { outcome, steps } = testCalls({ authenticate: unauthenticated, decode: malformed });
    expect(await outcome()).toBe("unauthenticated");
    expect(steps).toEqual(["authenticate"]);
  });

  it("that cannot be decoded is not handled, and is logged with its provider", async () => {
    const { outcome, steps, entries } = testCalls({ decode: malformed });
    expect(await outcome()).toBe("invalidArgument");
    expect(steps).toEqual(["authenticate", "decode"]);
    expect(entries()).toMatchObject([{ providerId: "7", code: "INVALID_ARGUMENT" }]);
  });

  it.each([
    ["was cancelled", { signal: AbortSignal.abort() }, "canceled"],
    ["is too late", { deadline: NOW }, "deadlineExceeded"],
  ])("that %s before it started needs a valid key all the same, and is not run", async (...row) => {
    const [, options, kind] = row;
    const { outcome, steps } = testCalls(options);
    expect(await outcome()).toBe(kind);
    expect(steps).toEqual(["authenticate"]);
    const refused = testCalls({ ...options, authenticate: unauthenticated });
    expect(await refused.outcome()).toBe("unauthenticated");
  });

  it("that its caller allows too little time is no failure of the service, and any other one is", async () => {
    const slow = () => Promise.reject(new ServiceError("deadlineExceeded"));
    const failed = { code: "DEADLINE_EXCEEDED", level: "warn" };
    for (const [options, logged] of [
      [{ deadline: NOW }, { code: "DEADLINE_EXCEEDED", reason: "callersDeadline", level: "info" }],
      // The look-up has a time limit of its own, and the service has one for all calls.
      [{ deadline: NOW + 5_000 }, failed],
      [{ maxCall: 0 }, failed],
    ] as const) {
      const { outcome, entries } = testCalls({ ...options, authenticate: slow });
      expect(await outcome()).toBe("deadlineExceeded");
      expect(entries()).toMatchObject([logged]);
    }
    const late = { ...failed, reason: "deadlineExceeded" };
    for (const [deadline, logged] of [
      [NOW + 999, { level: "info", reason: "callersDeadline" }],
      [NOW + 1_000, late],
    ] as const) {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      onTestFinished(() => void vi.useRealTimers());
      const { accept, entries } = testCalls({});
      await accept({ deadline });
      vi.advanceTimersByTime(1_000);
      expect(entries()).toMatchObject([logged]);
      vi.useRealTimers();
    }
  });

  it("that is cancelled during authentication is not accepted", async () => {
    const caller = new AbortController();
    const { accept, entries } = testCalls({
      signal: caller.signal,
      authenticate: async () => {
        caller.abort();
        return providerKey("7");
      },
    });
    expect(await outcomeOf(accept())).toBe("canceled");
    expect(entries()).toMatchObject([{ reason: "canceled" }]);
  });
});

describe("an accepted call whose message does not arrive", () => {
  it.each([
    ["its deadline passes", "deadlineExceeded"],
    ["its caller cancels", "canceled"],
  ])("ends when %s: logged once, no longer counted, and not run", async (_, kind) => {
    const caller = new AbortController();
    const { accept, entries, outcome, steps } = testCalls({ limits: { total: 1, perProvider: 2 } });
    const deadline = kind === "canceled" ? Infinity : NOW + 50;
    const accepted = await accept({ signal: caller.signal, deadline });
    if (kind === "canceled") caller.abort();
    await until(() => accepted.signal.aborted);
    const reason = kind === "canceled" ? kind : "callersDeadline";
    expect(entries()).toMatchObject([{ reason, providerId: "7" }]);
    expect(await outcomeOf(accepted.run(malformed))).toBe(kind);
    accepted.reject(new ServiceError("internal"));
    expect(entries()).toHaveLength(1);
    expect(steps).toEqual(["authenticate"]);
    expect([await outcome(), await outcome()]).toEqual(["ok", "ok"]);
  });

  it("ends when the protocol rejects it", async () => {
    const { accept, entries, outcome } = testCalls({ limits: { total: 1, perProvider: 2 } });
    const accepted = await accept();
    expect(await outcome()).toBe("overloaded");
    accepted.reject(new ServiceError("invalidArgument"));
    accepted.reject(new ServiceError("internal"));
    expect(entries()).toMatchObject([{ reason: "overloaded" }, { reason: "invalidArgument" }]);
    expect([await outcome(), await outcome()]).toEqual(["ok", "ok"]);
  });
});

it("a call is no longer counted once it failed, with the cause for the log, and without it for the caller", async () => {
  const fault = new TypeError("x is undefined");
  const handle = () => Promise.reject(fault);
  const { call } = testCalls({ handle, limits: { total: 1, perProvider: 2 } });
  for (let i = 0; i < 3; i++) {
    await expect(call()).rejects.toMatchObject({
      kind: "internal",
      cause: fault,
      message: "an error occurred while retrieving revenue data",
    });
  }
});

it("each caller of a shared response waits for its own turn, and only until it gives up", async () => {
  const turns: [rows: number, begin: () => void][] = [];
  const { call, steps, entries } = testCalls({
    servers: 300,
    waitForTurn: (rows) => new Promise((begin) => turns.push([rows, begin])),
  });
  const caller = new AbortController();
  const outcomes = [call(), call({ signal: caller.signal })].map(outcomeOf);
  await until(() => turns.length === 2);
  expect(steps.filter((step) => step === "handle")).toHaveLength(1);
  expect(turns.map(([rows]) => rows)).toEqual([300, 300]);
  expect(entries()).toEqual([]);
  caller.abort(new ServiceError("canceled"));
  for (const [, begin] of turns) begin();
  expect(await Promise.all(outcomes)).toEqual(["ok", "canceled"]);
});
