/** `DATABASE_URL`. No message repeats its value, which holds a password. */
import type { ConnectionOptions } from "mysql2";
import { ConfigError } from "./mistake.ts";

/** A parsed `DATABASE_URL`: the options of mysql2 that it sets. */
export type DatabaseUrl = Pick<
  ConnectionOptions,
  "host" | "port" | "user" | "password" | "database" | "ssl"
>;

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
