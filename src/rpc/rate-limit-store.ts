/**
 * Token buckets that replicas share in a Redis or Valkey server. The server decides and keeps the
 * time, so that the clocks of the replicas do not matter.
 *
 * A call never depends on the server. If it is away, or takes longer than 50 ms, the caller decides
 * alone. From then on no call asks it, until it has answered the heartbeat of this replica, which is
 * sent every second. The heartbeat also counts the replicas.
 */
import { randomUUID } from "node:crypto";
import { Valkey } from "iovalkey";
import { RateLimiterRes, RateLimiterValkey } from "rate-limiter-flexible";
import { type BucketSize, ROUNDING, type Taken } from "./token-buckets.ts";

/** What `createSharedBuckets` needs. */
export interface SharedBucketsOptions extends BucketSize {
  /** The URL of the server: `redis://`, `rediss://`, `valkey://` or `valkeys://`. */
  readonly store: string;
  /** Is called with the reason each time that the server did not decide. */
  readonly report: (event: string) => void;
}

/** The shared buckets, as one replica sees them. */
export interface SharedBuckets {
  /**
   * Takes one request out of the bucket of `key`. The result is undefined if the server did not
   * decide, after at most 50 ms. Never rejects.
   */
  take(key: string): Promise<Taken | undefined> | undefined;
  /** How many replicas there were when the server last answered; at least 1. */
  replicas(): number;
  /** Closes the connection. */
  close(): void;
}

/** How long an answer may take, in ms. */
const ANSWER_TIMEOUT = 50;
/** How often the heartbeat is sent, in ms. */
const HEARTBEAT_INTERVAL = 1_000;
/** How long a replica counts after its last heartbeat, in s. */
const REPLICA_LIFETIME = 5;

/** The prefix of all keys in the server. */
const KEY_PREFIX = "revenue:rate-limit";
const REPLICAS_KEY = `${KEY_PREFIX}:replicas`;

/** Each command is sent once, at once, or fails. The client reconnects by itself. */
const CLIENT_OPTIONS = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // INFO may be forbidden to the account. A server that is still loading fails the heartbeat.
  enableReadyCheck: false,
  connectTimeout: 2_000,
  // A connection on which nothing is answered for so long is replaced.
  socketTimeout: 2_000,
  disconnectTimeout: 100,
  retryStrategy: () => 500,
};

/**
 * The script for `RateLimiterValkey`, whose own one counts in fixed windows: at the end of a window
 * twice the burst is allowed. The bucket is stored as the time at which it is full again, in ms since
 * 2026. The result is how many requests are missing in the bucket (more than `burst`: refused), and
 * the ms as in `Taken`. It needs Redis 5 or later: earlier ones do not write after TIME.
 */
function bucketScript({ rate, burst }: BucketSize): string {
  return `
local interval = ${1_000 / rate}
local burst = ${burst}
local rounding = interval * ${ROUNDING}
local time = redis.call('TIME')
local now = (time[1] - 1767225600) * 1000 + time[2] / 1000
local untilFull = math.max((tonumber(redis.call('GET', KEYS[1])) or 0) - now, 0)
local allowed = untilFull + interval <= burst * interval + rounding
if allowed then
  untilFull = untilFull + interval
  redis.call('SET', KEYS[1], string.format('%.17g', now + untilFull), 'PX', math.ceil(untilFull))
end
local missing = math.ceil((untilFull - rounding) / interval)
local wait = untilFull
if missing >= burst then wait = math.max(untilFull + interval - burst * interval, 0) end
if not allowed then missing = burst + 1 end
return {missing, math.ceil(wait)}`;
}

/** Registers a replica and returns how many have done so of late. */
const HEARTBEAT_SCRIPT = `
local now = redis.call('TIME')[1]
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${REPLICA_LIFETIME})
redis.call('EXPIRE', KEYS[1], ${REPLICA_LIFETIME})
return redis.call('ZCARD', KEYS[1])`;

/** Connects to the server in the background. */
export function createSharedBuckets(options: SharedBucketsOptions): SharedBuckets {
  const { store, rate, burst, report } = options;
  const client = new Valkey(store, CLIENT_OPTIONS);
  const limiter = new RateLimiterValkey({
    storeClient: client,
    keyPrefix: KEY_PREFIX,
    points: burst,
    // Not used by the script, but the script is only called if it is at least 1.
    duration: 1,
    customIncrTtlLuaScript: bucketScript({ rate, burst }),
    rejectIfValkeyNotReady: true,
  });
  const replica = randomUUID();
  let replicas = 1;
  /** Why the server is not asked; undefined if it is. */
  let away: string | undefined = "not connected yet";

  async function beat(): Promise<void> {
    try {
      const count = await inTime(client.eval(HEARTBEAT_SCRIPT, 1, REPLICAS_KEY, replica));
      replicas = Math.max(Number(count), 1);
      away = undefined;
    } catch (error) {
      away = reasonOf(error);
      // After a failover the connection may lead to a server that no longer accepts writes.
      if (away === "READONLY") client.disconnect(true);
    }
  }
  async function ask(key: string): Promise<Taken | undefined> {
    try {
      return takenFrom(true, await inTime(limiter.consume(key)));
    } catch (thrown) {
      if (thrown instanceof RateLimiterRes) return takenFrom(false, thrown);
      away = reasonOf(thrown);
      return reportAway(away);
    }
  }
  function reportAway(reason: string): undefined {
    report(`rate limit store unavailable: ${reason}`);
  }

  client.on("ready", beat);
  // Without a listener the client writes errors to stderr.
  client.on("error", (error) => {
    away = reasonOf(error);
  });
  client.on("close", () => {
    away ??= "disconnected";
  });
  const heartbeat = setInterval(() => {
    if (client.status === "ready") beat();
  }, HEARTBEAT_INTERVAL).unref();

  return {
    take: (key) => (away === undefined ? ask(key) : reportAway(away)),
    replicas: () => replicas,
    close() {
      clearInterval(heartbeat);
      client.disconnect();
    },
  };
}

function takenFrom(allowed: boolean, result: RateLimiterRes): Taken {
  return { allowed, remaining: result.remainingPoints, wait: result.msBeforeNext };
}

class StoreTimeout extends Error {
  readonly code = "timeout";
}

/** Rejects with `StoreTimeout` if there is no answer in time. */
async function inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  // After a busy moment of this process, answers that have arrived are read first.
  const timer = setTimeout(() => setImmediate(reject, new StoreTimeout()), ANSWER_TIMEOUT);
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** One of few words: a code of Node (ECONNREFUSED), or the server's own (NOAUTH). */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "error";
  if ("code" in error && typeof error.code === "string") return error.code;
  return /^[A-Z]{2,20}\b/.exec(error.message)?.[0] ?? "error";
}
