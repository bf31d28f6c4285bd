/** The share of a key: whose limits a call uses, and with whom it shares runs. */
import { expect, it } from "vitest";
import type { CallerKey } from "../../../src/handler.ts";
import { createRateLimit } from "../../../src/rpc/rate-limit.ts";
import { providerKey, serviceKey } from "../../support/caller-key.ts";
import { until } from "../../support/poll.ts";
import { outcomeOf, testCalls } from "./test-calls.ts";

/** Calls of these keys about provider 7, one after the other in one turn of the event loop. */
function callsOf(keys: readonly CallerKey[], options: Parameters<typeof testCalls>[0] = {}) {
  let authenticated = 0;
  const calls = testCalls({
    authenticate: async () => keys[authenticated++] ?? providerKey("7"),
    named: ["7"],
    ...options,
  });
  return { ...calls, made: keys.map(() => outcomeOf(calls.call())) };
}

it("calls about one provider share a run within a share only: its own keys, and each service key", async () => {
  const own = [providerKey("7"), { ...providerKey("7"), id: "6" }];
  const keys = [...own, serviceKey("12"), serviceKey("12"), serviceKey("13")];
  const { made, steps } = callsOf(keys);
  expect(await Promise.all(made)).toEqual(keys.map(() => "ok"));
  expect(steps.filter((step) => step === "handle")).toHaveLength(3);
});

it.each([
  ["limit of calls in flight", { limits: { total: 100, perProvider: 1 } }, "tooManyCalls"],
  [
    "rate limit",
    { rateLimit: createRateLimit({ rate: 1, burst: 1, clock: () => 0 }) },
    "rateLimited",
  ],
])(
  "a service key has a %s of its own, for all providers, and leaves that of the provider alone",
  async (_, options, refused) => {
    const end = Promise.withResolvers<void>();
    const keys = [serviceKey("12"), serviceKey("12"), serviceKey("13"), providerKey("7")];
    const { made, steps } = callsOf(keys, { ...options, handle: () => end.promise });
    await until(() => steps.filter((step) => step === "handle").length === 3);
    end.resolve();
    expect(await Promise.all(made)).toEqual(["ok", refused, "ok", "ok"]);
  },
);

it("a service key is told whom the response is about, also caches; a provider's own key is told no number", async () => {
  const about = { "x-provider-id": "7", vary: "x-provider-id" };
  for (const [key, metadata] of [
    [serviceKey(), about],
    [providerKey("7"), {}],
  ] as const) {
    const { accept } = testCalls({ authenticate: async () => key, named: ["7"] });
    expect((await accept()).metadata).toEqual(metadata);
  }
});

it("a call that is refused because of its provider holds no place afterwards", async () => {
  const { call, entries } = testCalls({
    authenticate: async () => serviceKey(),
    named: [],
    limits: { total: 1, perProvider: 2 },
  });
  const outcomes = [await outcomeOf(call()), await outcomeOf(call())];
  expect(outcomes).toEqual(["invalidArgument", "invalidArgument"]);
  expect(entries()[0]).toMatchObject({ reason: "invalidArgument", key: { kind: "service" } });
  expect(entries()[0]).not.toHaveProperty("providerId");
});
