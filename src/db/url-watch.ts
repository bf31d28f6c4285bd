/** Follows `DATABASE_URL_FILE`, in which a password may change while the program runs. */
import { statSync } from "node:fs";
import { follow } from "../config/follow.ts";
import type { Environment } from "../config/variable.ts";
import { type DatabaseUrl, readDatabaseUrl } from "../config.ts";
import type { Log } from "../telemetry/log.ts";

/**
 * Returns a function that tells the URL for new connections: the last one that could be used. What is no
 * regular file, such as a pipe, was read once. Another database needs another process: the answers and
 * caches of one would be of both.
 *
 * @param url what `readDatabaseUrl` has returned
 */
export function followDatabaseUrl(
  environment: Environment,
  url: DatabaseUrl,
  log: Log,
): () => DatabaseUrl {
  const { DATABASE_URL_FILE: file = "" } = environment;
  if (file === "" || !statSync(file).isFile()) return () => url;
  let current = url;
  follow({
    contents: url,
    read: () => readDatabaseUrl(environment),
    use(next) {
      if (next.database !== current.database) throw new Error(OTHER_DATABASE);
      current = next;
      log.info({ file }, "database URL reloaded");
    },
    refuse(problems) {
      log.error({ problems }, "database URL not reloaded: the last good one stays in use");
    },
  });
  return () => current;
}

const OTHER_DATABASE = "the URL in DATABASE_URL_FILE names another database, which needs a restart";
