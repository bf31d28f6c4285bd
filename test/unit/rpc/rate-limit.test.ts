/** The rate limit of one process: token buckets, and the headers that tell what is left. */
import { expect, it } from "vitest";
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
  [3, 7, 7],
  [12, 0, 12],
  [999_983, 100_000, 100_000],
])("at a rate of %i, a burst of %i allows %i requests at once", (rate, burst, allowed) => {
  expect(allowedOf(allowed + 5, limitOf(rate, burst).consume)).toBe(allowed);
});

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
