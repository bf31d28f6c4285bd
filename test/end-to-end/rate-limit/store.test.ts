/** The rate limit that replicas share in a Redis or Valkey server, and what happens without it. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { createRateLimit, type RateLimitState } from "../../../src/rpc/rate-limit.ts";
import { until } from "../../support/poll.ts";
import { type RedisServer, startRedisServer } from "../../support/redis/redis-server.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server?.stop());

/** On a busy machine the server may miss the 50 ms; a replica then decides alone, as it should. */
const EXACT = { retry: 5 };

/** Warnings of Node go to stderr. */
const warnings: Error[] = [];
process.on("warning", (warning) => warnings.push(warning));
afterEach(() => {
  expect(warnings).toEqual([]);
});

/** No other test uses the same providers: their buckets outlive a test. */
let provider = "";
let tests = 0;
beforeEach(() => {
  provider = `provider ${++tests}`;
});

interface Replica {
  consume(): Promise<RateLimitState>;
  /** How many of `count` requests at once are allowed. */
  allowedOf(count: number): Promise<number>;
  /** The reasons for which the store did not decide so far. */
  readonly events: string[];
  /** Resolves when the store decides again. */
  untilShared(): Promise<void>;
  [Symbol.dispose](): void;
}

interface ReplicaSettings {
  readonly rate?: number;
  readonly burst?: number;
  readonly url?: string;
}

function createReplica({ rate = 1, burst = 10, url = server.url }: ReplicaSettings = {}): Replica {
  const events: string[] = [];
  const report = (event: string) => void events.push(event);
  const limit = createRateLimit({ rate, burst, store: url, report });
  if (limit === undefined) throw new Error("there is no limit");
  const consume = async (id = provider) => limit.consume(id);
  return {
    consume,
    allowedOf: async (count) =>
      (await Promise.all(Array.from({ length: count }, () => consume()))).filter(
        ({ allowed }) => allowed,
      ).length,
    events,
    untilShared: () =>
      until(10_000, async () => {
        const before = events.length;
        await consume("another");
        return events.length === before;
      }),
    [Symbol.dispose]: limit.close,
  };
}

/** Replicas of earlier tests count for a while. */
const forgetReplicas = () => server.command("FLUSHALL");

/** Two replicas that share their limit, and know of each other. */
async function createPair(settings?: ReplicaSettings): Promise<[Replica, Replica]> {
  await forgetReplicas();
  const pair = [createReplica(settings), createReplica(settings)] as [Replica, Replica];
  for (const replica of pair) await replica.untilShared();
  await sleep(1_100);
  return pair;
}

const remaining = ({ headers }: RateLimitState) =>
  Number(/r=(\d+)/.exec(headers.ratelimit ?? "")?.[1]);

it("two replicas share one limit", EXACT, async () => {
  const [first, second] = await createPair();
  using _ = first;
  using __ = second;
  expect(await first.allowedOf(6)).toBe(6);
  expect(await second.allowedOf(20)).toBe(4);
  expect(await first.allowedOf(20)).toBe(0);
  expect(first.events.concat(second.events).filter((event) => !/connected/.test(event))).toEqual(
    [],
  );
});

it("the store refills the bucket at the rate", EXACT, async () => {
  using replica = createReplica({ rate: 20, burst: 10 });
  await replica.untilShared();
  const started = performance.now();
  let allowed = 0;
  while (performance.now() - started < 1_500) {
    if ((await replica.consume()).allowed) allowed++;
    await sleep(5);
  }
  const seconds = (performance.now() - started) / 1_000;
  expect(allowed).toBeLessThanOrEqual(10 + 20 * seconds + 1);
  expect(allowed).toBeGreaterThan(10 + 20 * seconds - 5);
});

it("the headers are those of the bucket in the store", EXACT, async () => {
  const [first, second] = await createPair({ rate: 1, burst: 3 });
  using _ = first;
  using __ = second;
  const states = [
    await first.consume(),
    await second.consume(),
    await first.consume(),
    await second.consume(),
  ];
  expect(states.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
  expect(states.map(remaining)).toEqual([2, 1, 0, 0]);
  expect(states.at(-1)?.headers).toEqual({
    "ratelimit-policy": '"default";q=3;w=3',
    ratelimit: '"default";r=0;t=1',
    "retry-after": "1",
  });
});

it("a bucket leaves the store when it is full again", async () => {
  using replica = createReplica({ rate: 10, burst: 2 });
  await replica.untilShared();
  await replica.allowedOf(2);
  const key = `EXISTS "revenue:rate-limit:${provider}"`;
  expect(await server.command(key)).toContain(":1");
  await sleep(300);
  expect(await server.command(key)).toContain(":0");
});

it(
  "without the store each of two replicas allows half, and they share again when it is back",
  EXACT,
  async () => {
    const [first, second] = await createPair();
    using _ = first;
    using __ = second;
    await server.kill();
    expect(await first.allowedOf(20)).toBe(5);
    expect(await second.allowedOf(20)).toBe(5);
    expect(first.events.at(-1)).toMatch(/^rate limit store unavailable: \w+/);

    await server.start();
    for (const replica of [first, second]) await replica.untilShared();
    // The store has forgotten the buckets.
    expect((await first.allowedOf(6)) + (await second.allowedOf(6))).toBe(10);
  },
);

it("a replica that starts without the store allows the whole limit, and every call is counted", async () => {
  await server.kill();
  try {
    using replica = createReplica();
    expect(await replica.allowedOf(15)).toBe(10);
    expect(replica.events).toHaveLength(15);
    await until(5_000, async () => {
      await replica.consume();
      return replica.events.at(-1) === "rate limit store unavailable: ECONNREFUSED";
    });
  } finally {
    await server.start();
  }
});

it("a store that hangs delays no call by much more than 50 ms, and most not at all", async () => {
  const [first, second] = await createPair({ rate: 1_000, burst: 1_000 });
  using _ = first;
  using __ = second;
  await server.suspend();
  try {
    const delays: number[] = [];
    // Longer than the client keeps a connection on which nothing is answered.
    const ends = performance.now() + 4_000;
    while (performance.now() < ends) {
      const started = performance.now();
      await Promise.all([first.consume(), second.consume()]);
      delays.push(performance.now() - started);
      await sleep(5);
    }
    // 50 ms, and what a busy machine adds.
    expect(Math.max(...delays)).toBeLessThan(200);
    expect(delays.filter((delay) => delay > 40).length).toBeLessThan(5);
    expect(first.events).toContain("rate limit store unavailable: timeout");
  } finally {
    server.resume();
  }
  for (const replica of [first, second]) await replica.untilShared();
});

it("a password, an account and a database number in the URL are used", async () => {
  const secret = await startRedisServer(["--requirepass", "correct horse"]);
  try {
    const url = (password: string) =>
      `${secret.url.replace("//", `//default:${encodeURIComponent(password)}@`)}/3`;
    using replica = createReplica({ url: url("correct horse") });
    await replica.untilShared();
    expect(await replica.allowedOf(15)).toBe(10);
    expect(await secret.command('AUTH "correct horse"', "INFO keyspace")).toContain("db3:");

    using stranger = createReplica({ url: url("wrong") });
    await until(5_000, async () => {
      await stranger.consume();
      return /: (WRONGPASS|NOAUTH)$/.test(stranger.events.at(-1) ?? "");
    });
  } finally {
    await secret.stop();
  }
});

/** How many connections the server has accepted so far. */
async function connections(): Promise<number> {
  const statistics = await server.command("INFO stats");
  return Number(/total_connections_received:(\d+)/.exec(statistics)?.[1]);
}

it("a store that refuses writes is as one that is away: the replica connects again", async () => {
  await forgetReplicas();
  using replica = createReplica();
  await replica.untilShared();
  await server.command("REPLICAOF 127.0.0.1 1");
  try {
    expect(await replica.allowedOf(20)).toBe(10);
    expect(new Set(replica.events)).toContain("rate limit store unavailable: READONLY");
    const before = await connections();
    await sleep(2_500);
    expect(await connections()).toBeGreaterThan(before + 2);
  } finally {
    await server.command("REPLICAOF NO ONE");
  }
  await replica.untilShared();
});
