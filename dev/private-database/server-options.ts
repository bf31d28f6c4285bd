/**
 * The command line of a private server. It listens on 127.0.0.1, uses only files in its folder and
 * trades durability for speed.
 */
import type { ServerBinary } from "./server-binary.ts";

/** The settings that a caller can choose. */
export interface ServerSettings {
  /** Default time zone of sessions, as an offset: `+00:00`. */
  readonly timeZone: string;
  /** Size of the InnoDB buffer pool: `256M`. */
  readonly bufferPool: string;
  /** Additional options of the server. They come last, so they override the others. */
  readonly serverOptions: readonly string[];
}

/** The options for creating the data directory and for running on it. All paths are in `folder`. */
export function storageOptions(folder: string, settings: ServerSettings): string[] {
  return [
    `--datadir=${folder}/data`,
    // Servers that share a tmpdir delete each other's temporary tables.
    `--tmpdir=${folder}/tmp`,
    // Both servers refuse to run as root without this option.
    ...(process.getuid?.() === 0 ? ["--user=root"] : []),
    // Commits survive a crash of the server, but not of the machine.
    "--innodb-flush-log-at-trx-commit=2",
    "--loose-innodb-flush-method=nosync",
    `--innodb-buffer-pool-size=${settings.bufferPool}`,
  ];
}

/** The command that runs the server on `port` in the foreground. */
export function serverCommand(
  binary: ServerBinary,
  folder: string,
  port: number,
  settings: ServerSettings,
): string[] {
  return [
    binary.path,
    ...binary.firstOptions,
    ...storageOptions(folder, settings),
    "--bind-address=127.0.0.1",
    "--skip-networking=0",
    `--port=${port}`,
    `--socket=${folder}/socket`,
    `--pid-file=${folder}/pid`,
    `--init-file=${folder}/accounts.sql`,
    "--loose-mysqlx=OFF",
    "--skip-log-bin",
    "--skip-name-resolve",
    "--max-connections=300",
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_bin",
    `--default-time-zone=${settings.timeZone}`,
    ...settings.serverOptions,
  ];
}
