/**
 * The configuration of the service and of its commands, from environment variables. It is parsed
 * once, at start, and all mistakes are reported together. No message repeats the value of
 * `DATABASE_URL`, which holds a password.
 */
import type { ConnectionOptions } from "mysql2";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** The variables of the service: their names, their defaults and how they are parsed. */
const VARIABLES = {
  databaseUrl: { name: "DATABASE_URL", fallback: "", parse: parseDatabaseUrl },
  /** The address on which HTTP and gRPC listen. */
  host: { name: "HOST", fallback: "127.0.0.1", parse: parseAddress },
  /** 0 picks a free port. */
  httpPort: { name: "HTTP_PORT", fallback: "8080", parse: integer("a port", 0, 65_535) },
  /** 0 picks a free port. */
  grpcPort: { name: "GRPC_PORT", fallback: "50051", parse: integer("a port", 0, 65_535) },
  /** The lowest level that is logged; "silent" logs nothing. */
  logLevel: { name: "LOG_LEVEL", fallback: "info", parse: oneOf(LOG_LEVELS) },
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

/** A parsed `DATABASE_URL`: the options of mysql2 that it sets. */
export type DatabaseUrl = Pick<
  ConnectionOptions,
  "host" | "port" | "user" | "password" | "database" | "ssl"
>;

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

/**
 * Parses a `DATABASE_URL`.
 *
 * @throws ConfigError with what is wrong, without the text itself
 */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  const invalid = (what: string) =>
    new ConfigError([`DATABASE_URL ${what}; expected mysql://user:password@host:3306/database`]);
  const decode = (part: string, name: string) => {
    try {
      return decodeURIComponent(part);
    } catch {
      throw invalid(`has a malformed percent-encoding in its ${name}`);
    }
  };
  if (!text) throw invalid("is not set");
  const url = URL.parse(text);
  if (!url) throw invalid("is not a URL");
  if (url.protocol !== "mysql:") throw invalid(`starts with "${url.protocol}//"`);
  if (!url.hostname) throw invalid("has no host");
  const database = decode(url.pathname.slice(1), "database");
  if (!database || database.includes("/")) throw invalid("does not name exactly one database");
  if (!url.username) throw invalid("has no user");
  let ssl: DatabaseUrl["ssl"];
  for (const [name, value] of url.searchParams) {
    if (name !== "ssl-mode") throw invalid(`has an unknown parameter "${name}" (known: ssl-mode)`);
    if (!Object.hasOwn(SSL_MODES, value)) {
      throw invalid(`has ssl-mode "${value}" (known: ${Object.keys(SSL_MODES).join(", ")})`);
    }
    ssl = SSL_MODES[value];
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(url.port || 3306),
    user: decode(url.username, "user"),
    password: decode(url.password, "password"),
    database,
    ...(ssl && { ssl }),
  };
}

/** TLS to the database, by the names of MySQL's `--ssl-mode`. */
const SSL_MODES: Readonly<Record<string, DatabaseUrl["ssl"]>> = {
  DISABLED: undefined,
  REQUIRED: { rejectUnauthorized: false },
  VERIFY_CA: { rejectUnauthorized: true },
  VERIFY_IDENTITY: { rejectUnauthorized: true, verifyIdentity: true },
};

function parseAddress(text: string, name: string): string {
  if (/^[\w.:-]+$/.test(text)) return text;
  throw mistake(name, text, "an address such as 127.0.0.1 or ::");
}

/** Parses a decimal integer from `min` to `max`. `what` names it in the message: "a port". */
function integer(what: string, min: number, max: number) {
  return (text: string, name: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw mistake(name, text, `${what} from ${min} to ${max}`);
  };
}

function oneOf<Choice extends string>(choices: readonly Choice[]) {
  return (text: string, name: string): Choice => {
    const choice = choices.find((known) => known === text);
    if (choice !== undefined) return choice;
    throw mistake(name, text, `one of ${choices.join(", ")}`);
  };
}

function mistake(name: string, text: string, expected: string): ConfigError {
  return new ConfigError([`${name} is "${text}"; expected ${expected}`]);
}
