/** Creates the data directory of a private server with the server's own tools. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { findProgram, type ServerBinary } from "./server-binary.ts";
import { type ServerSettings, storageOptions } from "./server-options.ts";
import type { SupervisedFolder } from "./supervised-folder.ts";

/** Creates `data` and `tmp` in the folder. Throws an Error with the end of the server's log if it fails. */
export async function createDataDirectory(
  binary: ServerBinary,
  folder: SupervisedFolder,
  settings: ServerSettings,
): Promise<void> {
  mkdirSync(join(folder.path, "tmp"));
  const options = storageOptions(folder.path, settings);
  const initialization = await folder.run(
    binary.engine === "MySQL"
      ? [binary.path, ...binary.firstOptions, ...options, "--initialize-insecure"]
      : mariadbCommand(binary, options),
  );
  const exit = await initialization.ended;
  if (exit !== "with code 0") {
    throw new Error(`initializing the data directory ended ${exit}:\n${folder.logTail()}`);
  }
}

/** MariaDB initializes the directory with a script, in the server's `bin` or `scripts` folder. */
function mariadbCommand(binary: ServerBinary, options: readonly string[]): string[] {
  const base = dirname(dirname(binary.path));
  const folders = ["bin", "scripts"].map((folder) => join(base, folder));
  const script =
    findProgram("mariadb-install-db", folders) ?? findProgram("mysql_install_db", folders);
  if (script === undefined) {
    throw new Error(
      `mariadb-install-db, which ${binary.path} needs to create a data directory, was not found in ${folders.join(", ")} or on the PATH`,
    );
  }
  return [
    script,
    "--no-defaults",
    `--basedir=${base}`,
    // Accounts without passwords, until the server runs accounts.sql.
    "--auth-root-authentication-method=normal",
    "--skip-test-db",
    ...options,
  ];
}
