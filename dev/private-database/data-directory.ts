/** The data directory of a private server, made by the server's own means. */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { findProgram, type ServerBinary } from "./server-binary.ts";
import { type ServerSettings, storageOptions } from "./server-options.ts";
import type { WatchedFolder } from "./watched-folder.ts";

/** Makes `data` and `tmp` in the folder. Throws an Error with the server's last words where it fails. */
export async function createDataDirectory(
  binary: ServerBinary,
  folder: WatchedFolder,
  settings: ServerSettings,
): Promise<void> {
  mkdirSync(join(folder.path, "tmp"));
  const options = storageOptions(folder.path, settings);
  const initialization = await folder.run(
    binary.engine === "MySQL"
      ? [binary.path, ...binary.firstOptions, ...options, "--initialize-insecure"]
      : mariadbCommand(binary, options),
  );
  const how = await initialization.ended;
  if (how !== "with code 0") {
    throw new Error(`the data directory's making ended ${how}:\n${folder.lastWords()}`);
  }
}

/** MariaDB leaves it to a script, which lies beside the server or a folder further. */
function mariadbCommand(binary: ServerBinary, options: readonly string[]): string[] {
  const base = dirname(dirname(binary.path));
  const folders = ["bin", "scripts"].map((folder) => join(base, folder));
  const script =
    findProgram("mariadb-install-db", folders) ?? findProgram("mysql_install_db", folders);
  if (script === undefined) {
    throw new Error(
      `mariadb-install-db, which makes a data directory for ${binary.path}, is neither in ${folders.join(" or ")} nor on the PATH`,
    );
  }
  return [
    script,
    "--no-defaults",
    `--basedir=${base}`,
    // Passwordless accounts, for the moments until accounts.sql replaces them.
    "--auth-root-authentication-method=normal",
    "--skip-test-db",
    ...options,
  ];
}
