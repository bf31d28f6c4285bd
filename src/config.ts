/**
 * What the environment says: the config of the service and of its commands.
 * Everything is parsed once, at start, and all mistakes are told at once. A
 * message never repeats the value of `DATABASE_URL`, which holds a password.
 */
import type { ConnectionOptions } from "mysql2";

export interface Config {
  readonly databaseUrl: DatabaseUrl;
  /** The address to listen on, for HTTP and gRPC alike. */
  readonly host: string;
  /** 0 picks a free port. */
  readonly httpPort: number;
  /** 0 picks a free port. */
  readonly grpcPort: number;
  readonly logLevel: LogLevel;
}

/** A parsed `DATABASE_URL`: the part of mysql2's options that it decides. */
export type DatabaseUrl = Pick<
  ConnectionOptions,
  "host" | "port" | "user" | "password" | "database" | "ssl"
>;

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment is wrong; one line per mistake. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(mistakes.join("\n"));
    this.mistakes = mistakes;
  }
}

/**
 * Reads all config of the service. An empty variable counts as unset.
 *
 * @throws ConfigError with every mistake
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
    mistakes.push(`HTTP_PORT and GRPC_PORT are both ${httpPort}; each needs a port of its own`);
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

const URL_FORM = "it should read mysql://user:password@host:3306/database";

/** How a connection to the database is secured, in the words of MySQL's own `--ssl-mode`. */
const SSL_MODES: Readonly<Record<string, ConnectionOptions["ssl"]>> = {
  DISABLED: undefined,
  REQUIRED: { rejectUnauthorized: false },
  VERIFY_CA: { rejectUnauthorized: true },
  VERIFY_IDENTITY: { rejectUnauthorized: true, verifyIdentity: true },
};

/**
 * Reads `DATABASE_URL` alone, for the commands.
 *
 * @throws ConfigError where it is missing or malformed
 */
export function readDatabaseUrl(environment: Environment): DatabaseUrl {
  const text = environment.DATABASE_URL;
  if (!text) throw new ConfigError([`DATABASE_URL is not set; ${URL_FORM}`]);
  return parseDatabaseUrl(text);
}

/**
 * Parses the text of a `DATABASE_URL`.
 *
 * @throws ConfigError that says what is wrong, without the text itself
 */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  const wrong = (what: string) => new ConfigError([`DATABASE_URL ${what}; ${URL_FORM}`]);
  const url = URL.parse(text);
  if (!url) throw wrong("is not a URL");
  if (url.protocol !== "mysql:") throw wrong(`starts with "${url.protocol}//"`);
  if (!url.hostname) throw wrong("names no host");
  const decode = (part: string, name: string) => {
    try {
      return decodeURIComponent(part);
    } catch {
      throw wrong(`has a malformed percent-encoding in its ${name}`);
    }
  };
  const database = decode(url.pathname.slice(1), "database");
  if (!database || database.includes("/")) throw wrong("names no database, or more than one");
  if (!url.username) throw wrong("names no user");
  let ssl: ConnectionOptions["ssl"];
  for (const [name, value] of url.searchParams) {
    if (name !== "ssl-mode") throw wrong(`has an unknown parameter "${name}" (known: ssl-mode)`);
    if (!Object.hasOwn(SSL_MODES, value)) {
      throw wrong(`has ssl-mode "${value}" (known: ${Object.keys(SSL_MODES).join(", ")})`);
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
    throw new ConfigError([`HOST is "${host}"; it should be an address, like 127.0.0.1 or ::`]);
  }
  return host;
}

function readPort(environment: Environment, name: string, fallback: number): number {
  const text = environment[name];
  if (!text) return fallback;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65535)) {
    throw new ConfigError([`${name} is "${text}"; it should be a port, 0 to 65535`]);
  }
  return port;
}

function readLogLevel(environment: Environment): LogLevel {
  const text = environment.LOG_LEVEL || "info";
  const level = LOG_LEVELS.find((known) => known === text);
  if (level === undefined) {
    throw new ConfigError([`LOG_LEVEL is "${text}"; it should be one of ${LOG_LEVELS.join(", ")}`]);
  }
  return level;
}
