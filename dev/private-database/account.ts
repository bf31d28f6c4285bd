/** The only account of a private server, with all privileges. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerBinary } from "./server-binary.ts";

/** The name of the account and of the database. */
const NAME = "revenue";

/**
 * Writes `accounts.sql`, which the server runs before it listens. The statements create the
 * database and the account, and drop the root accounts, which have no password.
 * Returns a function that maps a port to the account's URL.
 */
export function writeAccount(binary: ServerBinary, folder: string): (port: number) => string {
  const password = randomBytes(18).toString("base64url");
  const account = `'${NAME}'@'%'`;
  const statements = [
    `CREATE DATABASE IF NOT EXISTS ${NAME} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
    `CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '${password}'`,
    `GRANT ALL PRIVILEGES ON *.* TO ${account} WITH GRANT OPTION`,
    ...(binary.engine === "MySQL"
      ? ["DROP USER IF EXISTS 'root'@'localhost'"]
      : [
          // MariaDB creates a root account for each host name of the machine.
          "DELETE FROM mysql.global_priv WHERE User IN ('root', '')",
          "FLUSH PRIVILEGES",
        ]),
  ];
  writeFileSync(
    join(folder, "accounts.sql"),
    statements.map((statement) => `${statement};\n`).join(""),
    { mode: 0o600 },
  );
  return (port) => `mysql://${NAME}:${password}@127.0.0.1:${port}/${NAME}`;
}
