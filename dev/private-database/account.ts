/** The one account of a private server, which may do everything there. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerBinary } from "./server-binary.ts";

/** The account's name and the database's. */
const NAME = "revenue";

/**
 * Writes the statements that the server runs before it listens: they make the
 * database and the account, and take away root's, which has no password.
 * Returns the account's URL on a port.
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
          // One root for each name that the machine has.
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
