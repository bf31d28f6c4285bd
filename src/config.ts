/**
 * The configuration of the service and of its commands, from environment variables. It is parsed
 * once, at start, and all mistakes are reported together. No message repeats the value of
 * `DATABASE_URL`, which holds a password.
 */
import { contradictions } from "./config/contradictions.ts";
import { readDatabaseUrl } from "./config/database-url.ts";
import { ConfigError } from "./config/mistake.ts";
import {
  address,
  integer,
  networks,
  oneOf,
  optionalAddress,
  optionalPort,
  origins,
  path,
} from "./config/parse.ts";

export { tlsFiles } from "./config/certificates.ts";
export { type DatabaseUrl, parseDatabaseUrl, readDatabaseUrl } from "./config/database-url.ts";
export { ConfigError } from "./config/mistake.ts";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

const count = (min: number, max: number) => integer("a whole number", min, max);
const optionalMs = integer("a time in ms", 0, 86_400_000);

/** The variables of the service: their names, their defaults and how they are parsed. */
const VARIABLES = {
  databaseUrl: {
    name: "DATABASE_URL",
    fallback: "",
    parse: (_text: string, _name: string, environment: Environment) => readDatabaseUrl(environment),
  },
  /** A file that holds the URL. `databaseUrl` is read from it. */
  databaseUrlFile: { name: "DATABASE_URL_FILE", fallback: "", parse: path },
  /** The address on which HTTP and gRPC listen. */
  host: { name: "HOST", fallback: "127.0.0.1", parse: address },
  /** 0 picks a free port. */
  httpPort: { name: "HTTP_PORT", fallback: "8080", parse: integer("a port", 0, 65_535) },
  /** 0 picks a free port. */
  grpcPort: { name: "GRPC_PORT", fallback: "50051", parse: integer("a port", 0, 65_535) },
  /** 0 picks a free port; undefined for no admin port. */
  adminPort: { name: "ADMIN_PORT", fallback: "9464", parse: optionalPort },
  /** The address on which the admin port listens; undefined for `host`. */
  adminHost: { name: "ADMIN_HOST", fallback: "", parse: optionalAddress },
  /** Whether `/`, `/docs` and `/openapi.json` are served. */
  web: { name: "WEB", fallback: "on", parse: oneOf(["on", "off"] as const) },
  /** The origins whose scripts may call the HTTP port from a browser. */
  corsOrigins: { name: "CORS_ORIGINS", fallback: "", parse: origins },
  /** The certificate of both ports, with its key; without it, they do not speak TLS. */
  tlsCertFile: { name: "TLS_CERT_FILE", fallback: "", parse: path },
  tlsKeyFile: { name: "TLS_KEY_FILE", fallback: "", parse: path },
  /** The authorities of the certificates that gRPC clients must present; none without it. */
  tlsClientCaFile: { name: "TLS_CLIENT_CA_FILE", fallback: "", parse: path },
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

  /** The age at which a gRPC connection is closed gracefully, give or take a tenth; 0 for none. */
  maxConnectionAge: { name: "GRPC_MAX_CONNECTION_AGE_MS", fallback: "0", parse: optionalMs },
  reflection: { name: "GRPC_REFLECTION", fallback: "on", parse: oneOf(["on", "off"] as const) },

  /** The longest a call may take. HTTP allows 30 s without a byte. */
  maxCall: { name: "MAX_CALL_MS", fallback: "10000", parse: integer("a time in ms", 1, 25_000) },
  /** Authenticated calls in flight. */
  maxCalls: { name: "MAX_CALLS", fallback: "1000", parse: count(1, 1_000_000) },
  /** Calls in flight of one provider. */
  maxCallsPerProvider: {
    name: "MAX_CALLS_PER_PROVIDER",
    fallback: "250",
    parse: count(1, 1_000_000),
  },
  /** Requests per second of one provider; 0 for no limit. */
  rateLimit: { name: "RATE_LIMIT", fallback: "0", parse: count(0, 1_000_000) },
  /** Requests of one provider at once; 0 for as many as per second. */
  rateLimitBurst: { name: "RATE_LIMIT_BURST", fallback: "0", parse: count(0, 1_000_000) },

  /** Connections to the database. */
  poolSize: { name: "DATABASE_POOL_SIZE", fallback: "10", parse: count(1, 1_000) },
  /** The greatest age of an answer, by the heartbeat of `npm run rollup`; 0 for no limit. */
  readMaxLag: { name: "DATABASE_READ_MAX_LAG_MS", fallback: "0", parse: optionalMs },

  /** How long the ports serve on after a SIGTERM, while health already says that they will stop. */
  lameDuck: { name: "STOP_LAME_DUCK_MS", fallback: "5000", parse: optionalMs },
  /** How long calls in flight may then take. */
  grace: { name: "STOP_GRACE_MS", fallback: "10000", parse: optionalMs },
} satisfies Record<string, Variable>;

interface Variable {
  readonly name: string;
  /** The text that is parsed if the variable is unset or empty. */
  readonly fallback: string;
  /** Throws `ConfigError`. */
  readonly parse: (text: string, name: string, environment: Environment) => unknown;
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
      values[field] = parse(environment[name] || fallback, name, environment);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      mistakes.push(...error.mistakes);
    }
  }
  const config = values as Config;
  mistakes.push(...contradictions(config));
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return config;
}
