/**
 * The configuration of the service and of its commands, from environment variables. It is parsed
 * once, at start, and all mistakes are reported together. No message repeats the value of
 * `DATABASE_URL`, which holds a password.
 */
import type { ConnectionOptions } from "mysql2";

/** The configuration of the service. */
export interface Config {
  /** `DATABASE_URL`. */
  readonly databaseUrl: DatabaseUrl;
  /** `HOST`: the address on which HTTP and gRPC listen. */
  readonly host: string;
  /** `HTTP_PORT`; 0 picks a free port. */
  readonly httpPort: number;
  /** `GRPC_PORT`; 0 picks a free port. */
  readonly grpcPort: number;
  /** `LOG_LEVEL`. */
  readonly logLevel: LogLevel;
}

/** A parsed `DATABASE_URL`: the options of mysql2 that it sets. */
export type DatabaseUrl = Pick<
  ConnectionOptions,
  "host" | "port" | "user" | "password" | "database" | "ssl"
>;

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
/** The lowest level that is logged; "silent" logs nothing. */
export type LogLevel = (typeof LOG_LEVELS)[number];

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment is invalid. `mistakes` has one line for each mistake. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(mistakes.join("\n"));
    this.mistakes = mistakes;
  }
}

/**
 * Reads the configuration of the service. An empty variable counts as unset.
 *
 * @throws ConfigError with all mistakes
 */
export function readConfig(environment: Environment): Config {
  const mistakes: string[] = [];
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      mistakes.push(...error.mistakes);
      return undefined;
    }
  };
  const databaseUrl = attempt(() => readDatabaseUrl(environment));
  const host = attempt(() => readHost(environment));
  const httpPort = attempt(() => readPort(environment, "HTTP_PORT", 8080));
  const grpcPort = attempt(() => readPort(environment, "GRPC_PORT", 50051));
  const logLevel = attempt(() => readLogLevel(environment));
  if (httpPort !== undefined && httpPort !== 0 && httpPort === grpcPort) {
    mistakes.push(`HTTP_PORT and GRPC_PORT are both ${httpPort}; they must differ`);
  }
  if (
    databaseUrl === undefined ||
    host === undefined ||
    httpPort === undefined ||
    grpcPort === undefined ||
    logLevel === undefined ||
    mistakes.length > 0
  ) {
    throw new ConfigError(mistakes);
  }
  return { databaseUrl, host, httpPort, grpcPort, logLevel };
}

const URL_FORM = "expected mysql://user:password@host:3306/database";

/** TLS to the database, by the names of MySQL's `--ssl-mode`. */
const SSL_MODES: Readonly<Record<string, ConnectionOptions["ssl"]>> = {
  DISABLED: undefined,
  REQUIRED: { rejectUnauthorized: false },
  VERIFY_CA: { rejectUnauthorized: true },
  VERIFY_IDENTITY: { rejectUnauthorized: true, verifyIdentity: true },
};

/**
 * Reads `DATABASE_URL` only, for the commands.
 *
 * @throws ConfigError if it is missing or malformed
 */
export function readDatabaseUrl(environment: Environment): DatabaseUrl {
  const text = environment.DATABASE_URL;
  if (!text) throw new ConfigError([`DATABASE_URL is not set; ${URL_FORM}`]);
  return parseDatabaseUrl(text);
}

/**
 * Parses a `DATABASE_URL`.
 *
 * @throws ConfigError with what is wrong, without the text itself
 */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  const invalid = (what: string) => new ConfigError([`DATABASE_URL ${what}; ${URL_FORM}`]);
  const url = URL.parse(text);
  if (!url) throw invalid("is not a URL");
  if (url.protocol !== "mysql:") throw invalid(`starts with "${url.protocol}//"`);
  if (!url.hostname) throw invalid("has no host");
  const decode = (part: string, name: string) => {
    try {
      return decodeURIComponent(part);
    } catch {
      throw invalid(`has a malformed percent-encoding in its ${name}`);
    }
  };
  const database = decode(url.pathname.slice(1), "database");
  if (!database || database.includes("/")) throw invalid("does not name exactly one database");
  if (!url.username) throw invalid("has no user");
  let ssl: ConnectionOptions["ssl"];
  for (const [name, value] of url.searchParams) {
    if (name !== "ssl-mode") throw invalid(`has an unknown parameter "${name}" (known: ssl-mode)`);
    if (!Object.hasOwn(SSL_MODES, value)) {
      throw invalid(`has ssl-mode "${value}" (known: ${Object.keys(SSL_MODES).join(", ")})`);
    }
    ssl = SSL_MODES[value];
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? 3306 : Number(url.port),
    user: decode(url.username, "user"),
    password: decode(url.password, "password"),
    database,
    ...(ssl === undefined ? {} : { ssl }),
  };
}

function readHost(environment: Environment): string {
  const host = environment.HOST || "127.0.0.1";
  if (!/^[\w.:-]+$/.test(host)) {
    throw new ConfigError([`HOST is "${host}"; expected an address such as 127.0.0.1 or ::`]);
  }
  return host;
}

function readPort(environment: Environment, name: string, fallback: number): number {
  const text = environment[name];
  if (!text) return fallback;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65535)) {
    throw new ConfigError([`${name} is "${text}"; expected a port from 0 to 65535`]);
  }
  return port;
}

function readLogLevel(environment: Environment): LogLevel {
  const text = environment.LOG_LEVEL || "info";
  const level = LOG_LEVELS.find((known) => known === text);
  if (level === undefined) {
    throw new ConfigError([`LOG_LEVEL is "${text}"; expected one of ${LOG_LEVELS.join(", ")}`]);
  }
  return level;
}
