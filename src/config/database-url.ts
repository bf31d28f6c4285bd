/**
 * `DATABASE_URL`, or the file that `DATABASE_URL_FILE` names. No message repeats its value, which
 * holds a password.
 */
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { ConnectionOptions } from "mysql2";
import { ConfigError, unreadable } from "./mistake.ts";
import type { Environment } from "./variable.ts";

/** A parsed `DATABASE_URL`: the options of mysql2 that it sets. */
export type DatabaseUrl = Pick<
  ConnectionOptions,
  "host" | "port" | "user" | "password" | "database" | "ssl"
>;

/** Where new connections lead: always to the same database and account, or where a function says. */
export type DatabaseTarget = DatabaseUrl | (() => DatabaseUrl);

/**
 * Reads the URL from the one of the two variables that is set. A file may end with a line break.
 *
 * @throws ConfigError if both are set, or none, or the URL is malformed
 */
export function readDatabaseUrl(environment: Environment): DatabaseUrl {
  const { DATABASE_URL: text = "", DATABASE_URL_FILE: file = "" } = environment;
  if (file === "") return parseDatabaseUrl(text);
  if (text !== "") {
    throw new ConfigError([
      "DATABASE_URL and DATABASE_URL_FILE are both set; expected one of them",
    ]);
  }
  let content: string;
  try {
    content = readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError([unreadable("DATABASE_URL_FILE", file, error)]);
  }
  return parseDatabaseUrl(content.trim(), "the URL in DATABASE_URL_FILE");
}

/**
 * Parses a URL of a database.
 *
 * @param name what the messages call it
 * @throws ConfigError with what is wrong, without the text itself
 */
export function parseDatabaseUrl(text: string, name = "DATABASE_URL"): DatabaseUrl {
  const invalid = (what: string) =>
    new ConfigError([
      `${name} ${what}; expected mysql://user:password@host:3306/database, percent-encoded`,
    ]);
  const decode = (part: string, component: string) => {
    try {
      return decodeURIComponent(part);
    } catch {
      throw invalid(`has a malformed percent-encoding in its ${component}: % itself is %25`);
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
  if (url.hash) throw invalid("has a part after #");
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  let ssl: DatabaseUrl["ssl"];
  for (const [parameter, value] of url.searchParams) {
    // Its name may be the end of a password with a "?".
    if (parameter !== "ssl-mode") throw invalid("has an unknown parameter (known: ssl-mode)");
    if (!Object.hasOwn(SSL_MODES, value)) {
      throw invalid(`has ssl-mode "${value}" (known: ${Object.keys(SSL_MODES).join(", ")})`);
    }
    // The driver would compare the certificate with "localhost" instead.
    if (value === "VERIFY_IDENTITY" && isIP(host) !== 0) {
      throw invalid('has ssl-mode "VERIFY_IDENTITY" with an address; it needs a host name');
    }
    ssl = SSL_MODES[value];
  }
  return {
    host,
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
