/**
 * The command line of a private server: reachable from this machine alone, its
 * own files only, fast rather than durable.
 */
import type { ServerBinary } from "./server-binary.ts";

export interface ServerSettings {
  /** The zone of sessions that set none, as an offset: `+00:00`. */
  readonly timeZone: string;
  /** InnoDB's buffer pool: `256M`. */
  readonly bufferPool: string;
  /** More options of the server's own; they come last, so they win. */
  readonly serverOptions: readonly string[];
}

/** The options for making the data directory and for running on it, all paths within `folder`. */
export function storageOptions(folder: string, settings: ServerSettings): string[] {
  return [
    `--datadir=${folder}/data`,
    // Of its own: servers that share one delete each other's temporary tables.
    `--tmpdir=${folder}/tmp`,
    // Both servers refuse to run as root unless told so.
    ...(process.getuid?.() === 0 ? ["--user=root"] : []),
    // What is committed outlives the server's being killed, not the machine's.
    "--innodb-flush-log-at-trx-commit=2",
    "--loose-innodb-flush-method=nosync",
    `--innodb-buffer-pool-size=${settings.bufferPool}`,
  ];
}

/** The command that runs the server on `port`, for as long as it may. */
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
