/** The rate limit of one process: token buckets, and the headers that tell what is left. */
import { expect, it, onTestFinished, vi } from "vitest";
import { createRateLimit } from "../../../src/rpc/rate-limit.ts";

/** A limit with a clock that the test advances. */
function limitOf(rate: number, burst = 0) {
  let now = 1_000_000.123;
  const limit = createRateLimit({ rate, burst, clock: () => now });
  if (limit === undefined) throw new Error("there is no limit");
  return {
    consume: (providerId = "1") => limit.consume(providerId),
    advance: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

/** How many of `count` requests at once are allowed. */
function allowedOf(count: number, consume: () => { readonly allowed: boolean }): number {
  return Array.from({ length: count }, consume).filter(({ allowed }) => allowed).length;
}

it("a rate of 0 is no limit", () => {
  expect(createRateLimit({ rate: 0, burst: 5 })).toBeUndefined();
});

it.each([
  { rate: 3, burst: 7 },
  { rate: 7, burst: 1 },
  { rate: 12, burst: 0 },
  { rate: 999_983, burst: 100_000 },
])(
  "a burst of $burst at $rate per second is allowed at once, and no request more (0: as much as the rate)",
  (size) => {
    const { consume } = limitOf(size.rate, size.burst);
    const burst = size.burst || size.rate;
    expect(allowedOf(burst + 5, consume)).toBe(burst);
  },
);

it("the bucket is refilled at the rate, one request after the other", () => {
  const { consume, advance } = limitOf(4, 8);
  allowedOf(8, consume);
  advance(240);
  expect(consume().allowed).toBe(false);
  advance(11);
  expect(allowedOf(5, consume)).toBe(1);
  advance(1_000);
  expect(allowedOf(10, consume)).toBe(4);
  advance(60_000);
  expect(allowedOf(20, consume)).toBe(8);
});

it("in any time at most burst + rate × time is allowed, however the requests are spread", () => {
  const { consume, advance } = limitOf(5, 3);
  const times: number[] = [];
  for (let time = 0; time < 4_000; time += 7) {
    if (consume().allowed) times.push(time);
    advance(7);
  }
  for (const [first, start] of times.entries()) {
    for (const [index, end] of times.slice(first).entries()) {
      expect(index + 1).toBeLessThanOrEqual(3.02 + (5 * (end - start)) / 1_000);
    }
  }
  expect(times.length).toBeGreaterThanOrEqual(5 * 4);
});

it("a request is told what is left and when the bucket is full, or when the next one is allowed", () => {
  const { consume, advance } = limitOf(2, 3);
  const policy = { "ratelimit-policy": '"default";q=3;w=2' };
  const told = (ratelimit: string) => ({
    headers: { ...policy, ratelimit: `"default";${ratelimit}` },
  });
  expect(consume()).toEqual({ allowed: true, ...told("r=2;t=1") });
  expect(consume()).toEqual({ allowed: true, ...told("r=1;t=1") });
  expect(consume()).toMatchObject({ allowed: true, ...told("r=0;t=1") });
  advance(100);
  const refused = consume();
  expect(refused).toMatchObject({ allowed: false, ...told("r=0;t=1") });
  expect(refused.headers["retry-after"]).toBe("1");
});

it("a request after Retry-After is allowed, on the clock of the process", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const limit = createRateLimit({ rate: 1, burst: 1 });
  limit?.consume("1");
  const refused = limit?.consume("1");
  expect(refused?.allowed).toBe(false);
  vi.advanceTimersByTime(Number(refused?.headers["retry-after"]) * 1_000);
  expect(limit?.consume("1").allowed).toBe(true);
});

it("buckets are forgotten beyond 100,000 providers, those of active providers last", () => {
  const { consume } = limitOf(1, 2);
  for (const id of ["idle", "idle", "active"]) consume(id);
  for (let id = 0; id < 99_999; id++) {
    consume(`${id}`);
    if (id === 50_000) consume("active");
  }
  expect(consume("active").allowed).toBe(false);
  expect(consume("idle").allowed).toBe(true);
});
