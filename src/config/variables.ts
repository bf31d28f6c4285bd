/** The settings of the service. */
import { readDatabaseUrl } from "./database-url.ts";
import {
  address,
  integer,
  networks,
  oneOf,
  optionalAddress,
  optionalPort,
  origins,
  path,
} from "./parse.ts";
import type { Environment, Variable } from "./variable.ts";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

const count = (min: number, max: number) => integer("a whole number", min, max);
const optionalMs = integer("a time in ms", 0, 86_400_000);

/**
 * The variables of the service. Each is written here once: `npm run generate` makes `.env.example` and
 * the table in docs/operations.md of them.
 */
export const VARIABLES = {
  databaseUrl: {
    name: "DATABASE_URL",
    fallback: "",
    example: "mysql://revenue:password@127.0.0.1:3306/revenue",
    parse: (_text: string, _name: string, environment: Environment) => readDatabaseUrl(environment),
    description: "the database: `mysql://user:password@host:3306/database`, percent-encoded",
  },
  /** `databaseUrl` is read from it. */
  databaseUrlFile: {
    name: "DATABASE_URL_FILE",
    fallback: "",
    parse: path,
    description: "a file with that URL, such as a secret, in its place",
  },
  poolSize: {
    name: "DATABASE_POOL_SIZE",
    fallback: "10",
    parse: count(1, 1_000),
    description: "connections for answers; four more look up API keys",
  },
  readMaxLag: {
    name: "DATABASE_READ_MAX_LAG_MS",
    fallback: "0",
    parse: optionalMs,
    description:
      "the greatest age of an answer, by the heartbeat of `npm run rollup`; 0 for no limit",
  },
  host: {
    name: "HOST",
    fallback: "127.0.0.1",
    parse: address,
    description: "where all ports listen; `::` for every address",
  },
  httpIdle: {
    name: "HTTP_IDLE_TIMEOUT_MS",
    fallback: "72000",
    parse: integer("a time in ms", 1_000, 86_400_000),
    description: "how long an idle HTTP connection stays open",
  },
  httpPort: {
    name: "HTTP_PORT",
    fallback: "8080",
    parse: integer("a port", 0, 65_535),
    description: "REST, Connect and gRPC-Web; a port of 0 is a free one",
  },
  grpcPort: {
    name: "GRPC_PORT",
    fallback: "50051",
    parse: integer("a port", 0, 65_535),
    description: "gRPC",
  },
  adminHost: {
    name: "ADMIN_HOST",
    fallback: "",
    parse: optionalAddress,
    description: "the address of the admin port; that of `HOST` if empty",
  },
  adminPort: {
    name: "ADMIN_PORT",
    fallback: "9464",
    parse: optionalPort,
    description: "metrics and health, without a key; `off` for none",
  },
  logLevel: {
    name: "LOG_LEVEL",
    fallback: "info",
    parse: oneOf(LOG_LEVELS),
    description:
      "the lowest level logged: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`",
  },
  tlsCertFile: {
    name: "TLS_CERT_FILE",
    fallback: "",
    parse: path,
    description: "the certificate of both ports and its intermediates, in PEM",
  },
  tlsKeyFile: {
    name: "TLS_KEY_FILE",
    fallback: "",
    parse: path,
    description: "its private key, without a passphrase",
  },
  tlsClientCaFile: {
    name: "TLS_CLIENT_CA_FILE",
    fallback: "",
    parse: path,
    description: "the authorities of gRPC clients' certificates, in PEM",
  },
  corsOrigins: {
    name: "CORS_ORIGINS",
    fallback: "",
    parse: origins,
    description:
      "origins whose scripts may call HTTP: `https://app.example,http://localhost:5173`, or `*`",
  },
  trustedProxies: {
    name: "TRUSTED_PROXIES",
    fallback: "",
    parse: networks,
    description: "proxies whose `X-Forwarded-For` names the client: `10.0.0.0/8,::1`",
  },
  web: {
    name: "WEB",
    fallback: "on",
    parse: oneOf(["on", "off"] as const),
    description: "`off`: neither the pages nor `/openapi.json` are served",
  },
  reflection: {
    name: "GRPC_REFLECTION",
    fallback: "on",
    parse: oneOf(["on", "off"] as const),
    description: "`off`: gRPC has no reflection",
  },
  serviceKeys: {
    name: "SERVICE_KEYS",
    fallback: "grpc",
    parse: oneOf(["grpc", "all", "off"] as const),
    description:
      "where service keys are accepted: `grpc`, on that port; `all`, on both; `off`, nowhere",
  },
  maxConnectionAge: {
    name: "GRPC_MAX_CONNECTION_AGE_MS",
    fallback: "0",
    parse: optionalMs,
    description: "when gRPC connections are closed, within a tenth; 0 for never",
  },
  /** At most 25 s: HTTP closes a connection after 30 s without a byte. */
  maxCall: {
    name: "MAX_CALL_MS",
    fallback: "10000",
    parse: integer("a time in ms", 1, 25_000),
    description: "the longest that a call may take; at most 25 s",
  },
  maxCalls: {
    name: "MAX_CALLS",
    fallback: "1000",
    parse: count(1, 1_000_000),
    description: "authenticated calls in flight",
  },
  maxCallsPerProvider: {
    name: "MAX_CALLS_PER_PROVIDER",
    fallback: "250",
    parse: count(1, 1_000_000),
    description: "calls in flight of one provider, or one service key",
  },
  maxConnections: {
    name: "MAX_CONNECTIONS",
    fallback: "20000",
    parse: count(1, 1_000_000),
    description: "open HTTP connections; the limit of open files (`ulimit -n`) must be 656 more",
  },
  rateLimit: {
    name: "RATE_LIMIT",
    fallback: "0",
    parse: count(0, 1_000_000),
    description: "requests of one provider, or one service key, per second; 0 for no limit",
  },
  rateLimitBurst: {
    name: "RATE_LIMIT_BURST",
    fallback: "0",
    parse: count(0, 1_000_000),
    description: "of these, how many at once; 0 for as many as `RATE_LIMIT`",
  },
  lameDuck: {
    name: "STOP_LAME_DUCK_MS",
    fallback: "5000",
    parse: optionalMs,
    description: "how long the ports serve on after SIGTERM, unready",
  },
  grace: {
    name: "STOP_GRACE_MS",
    fallback: "10000",
    parse: optionalMs,
    description: "how long calls may then take; below `MAX_CALL_MS` some are cut off",
  },
} satisfies Record<string, Variable>;
