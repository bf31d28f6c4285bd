/**
 * The configuration of the service and of its commands, from environment variables. It is parsed
 * once, at start, and all mistakes are reported together. No message repeats the value of
 * `DATABASE_URL`, which holds a password.
 */
import { type DatabaseUrl, parseDatabaseUrl } from "./config/database-url.ts";
import { ConfigError } from "./config/mistake.ts";
import { address, integer, networks, oneOf, storeUrl } from "./config/parse.ts";

export { type DatabaseUrl, parseDatabaseUrl } from "./config/database-url.ts";
export { ConfigError } from "./config/mistake.ts";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

const count = (min: number, max: number) => integer("a number", min, max);
const milliseconds = integer("a time in ms", 1, 86_400_000);
const bytes = integer("a number of bytes", 65_536, 2 ** 40);

/** The variables of the service: their names, their defaults and how they are parsed. */
const VARIABLES = {
  databaseUrl: { name: "DATABASE_URL", fallback: "", parse: parseDatabaseUrl },
  /** The address on which HTTP and gRPC listen. */
  host: { name: "HOST", fallback: "127.0.0.1", parse: address },
  /** 0 picks a free port. */
  httpPort: { name: "HTTP_PORT", fallback: "8080", parse: integer("a port", 0, 65_535) },
  /** 0 picks a free port. */
  grpcPort: { name: "GRPC_PORT", fallback: "50051", parse: integer("a port", 0, 65_535) },
  /** The lowest level that is logged; "silent" logs nothing. */
  logLevel: { name: "LOG_LEVEL", fallback: "info", parse: oneOf(LOG_LEVELS) },

  /** Open connections on both ports together. */
  maxConnections: { name: "MAX_CONNECTIONS", fallback: "20000", parse: count(1, 1_000_000) },
  /** Open connections of one client address on both ports together; trusted proxies are exempt. */
  maxConnectionsPerAddress: {
    name: "MAX_CONNECTIONS_PER_ADDRESS",
    fallback: "15000",
    parse: count(1, 1_000_000),
  },
  /** The proxies whose `X-Forwarded-For` names the client. */
  trustedProxies: { name: "TRUSTED_PROXIES", fallback: "", parse: networks },
  /** From the first byte of a request, or a gRPC call's headers, to the end of its message. */
  requestTimeout: { name: "REQUEST_TIMEOUT_MS", fallback: "15000", parse: milliseconds },
  /** How long a client may take to read a response. */
  responseTimeout: { name: "RESPONSE_TIMEOUT_MS", fallback: "45000", parse: milliseconds },
  /** Response bytes that clients have not read, of all connections together. */
  maxUnreadBytes: { name: "MAX_UNREAD_BYTES", fallback: "268435456", parse: bytes },

  /** From the start of an HTTP/1.1 connection, or the first byte of a request, to its headers' end. */
  headersTimeout: { name: "HTTP_HEADERS_TIMEOUT_MS", fallback: "10000", parse: milliseconds },
  /** How long an HTTP/1.1 connection may be idle between requests. */
  keepAliveTimeout: { name: "HTTP_KEEP_ALIVE_TIMEOUT_MS", fallback: "72000", parse: milliseconds },

  /** From the start of a gRPC connection to the end of its HTTP/2 preface. */
  prefaceTimeout: { name: "GRPC_PREFACE_TIMEOUT_MS", fallback: "10000", parse: milliseconds },
  /** Streams of one gRPC connection. */
  maxStreams: { name: "GRPC_MAX_STREAMS", fallback: "250", parse: count(1, 10_000) },
  /** Cancelled calls after which a gRPC connection is closed gracefully. */
  maxCancels: { name: "GRPC_MAX_CANCELS", fallback: "5000", parse: count(100, 1_000_000) },
  /** Unread response bytes of a gRPC connection from which further calls on it wait. */
  maxUnreadPerConnection: { name: "GRPC_MAX_UNREAD_BYTES", fallback: "1048576", parse: bytes },
  /** Open health watches. */
  maxWatches: { name: "GRPC_MAX_WATCHES", fallback: "1000", parse: count(0, 1_000_000) },
  reflection: { name: "GRPC_REFLECTION", fallback: "on", parse: oneOf(["on", "off"] as const) },
  /** Open reflection streams. */
  maxReflections: { name: "GRPC_MAX_REFLECTIONS", fallback: "50", parse: count(1, 100_000) },

  /** Authenticated calls in flight. */
  maxCalls: { name: "MAX_CALLS", fallback: "1000", parse: count(1, 1_000_000) },
  /** Calls in flight of one provider. */
  maxCallsPerProvider: {
    name: "MAX_CALLS_PER_PROVIDER",
    fallback: "250",
    parse: count(1, 1_000_000),
  },
  /** Calls that wait for their key to be looked up. */
  maxKeyLookups: { name: "MAX_KEY_LOOKUPS", fallback: "1000", parse: count(1, 1_000_000) },
  /** Failed authentications of one client address per second, in the long run; 0 for no limit. */
  failedAuthRate: { name: "FAILED_AUTH_RATE", fallback: "20", parse: count(0, 1_000_000) },
  /** Failed authentications of one client address at once. */
  failedAuthBurst: { name: "FAILED_AUTH_BURST", fallback: "1000", parse: count(1, 1_000_000) },
  /** Requests per second of one provider; 0 for no limit. */
  rateLimit: { name: "RATE_LIMIT", fallback: "0", parse: count(0, 1_000_000) },
  /** Requests of one provider at once; 0 for as many as per second. */
  rateLimitBurst: { name: "RATE_LIMIT_BURST", fallback: "0", parse: count(0, 1_000_000) },
  /** Where replicas share the rate limit; each counts for itself without it. */
  rateLimitStore: { name: "RATE_LIMIT_STORE", fallback: "", parse: storeUrl },

  /** Connections to the database. */
  poolSize: { name: "DATABASE_POOL_SIZE", fallback: "10", parse: count(1, 1_000) },
  /** How long a call waits for one. */
  poolWait: { name: "DATABASE_POOL_WAIT_MS", fallback: "2000", parse: milliseconds },
} satisfies Record<string, Variable>;

interface Variable {
  readonly name: string;
  /** The text that is parsed if the variable is unset or empty. */
  readonly fallback: string;
  /** Throws `ConfigError`. */
  readonly parse: (text: string, name: string) => unknown;
}

/** The configuration of the service. */
export type Config = {
  readonly [Field in keyof typeof VARIABLES]: ReturnType<(typeof VARIABLES)[Field]["parse"]>;
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the configuration of the service. An empty variable counts as unset.
 *
 * @throws ConfigError with all mistakes
 */
export function readConfig(environment: Environment): Config {
  const values: Record<string, unknown> = {};
  const mistakes: string[] = [];
  for (const [field, { name, fallback, parse }] of Object.entries(VARIABLES)) {
    try {
      values[field] = parse(environment[name] || fallback, name);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      mistakes.push(...error.mistakes);
    }
  }
  const config = values as Config;
  if (config.httpPort && config.httpPort === config.grpcPort) {
    mistakes.push(`HTTP_PORT and GRPC_PORT are both ${config.httpPort}; they must differ`);
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return config;
}

/**
 * Reads `DATABASE_URL` only, for the commands.
 *
 * @throws ConfigError if it is missing or malformed
 */
export function readDatabaseUrl(environment: Environment): DatabaseUrl {
  return parseDatabaseUrl(environment.DATABASE_URL ?? "");
}
