/**
 * A private, temporary MySQL or MariaDB server with its own folder, port and account. It is
 * removed when this process exits for any reason.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createConnection } from "mysql2/promise";
import { freePort } from "../free-port.ts";
import { TIME_LIMIT } from "../time-limit.ts";
import { writeAccount } from "./account.ts";
import { createDataDirectory } from "./data-directory.ts";
import { findServerBinary, type ServerBinary } from "./server-binary.ts";
import { type ServerSettings, serverCommand } from "./server-options.ts";
import {
  createSupervisedFolder,
  type SupervisedFolder,
  type SupervisedProcess,
} from "./supervised-folder.ts";
import { untilSuspended } from "./suspend.ts";

/** The server's settings, and where progress goes. */
export interface PrivateDatabaseOptions extends Partial<ServerSettings> {
  /** Receives a line for each step. Default: none. */
  readonly log?: (line: string) => void;
}

/** How many ports to try if another process takes the chosen one first. */
const PORT_ATTEMPTS = 5;

/**
 * Starts a private server with an empty database. It keeps this process alive until it is
 * stopped. Throws an Error with the end of the server's log if it cannot be started; nothing is
 * left behind then.
 */
export async function startPrivateDatabase(
  options: PrivateDatabaseOptions = {},
): Promise<PrivateDatabase> {
  const { log = () => {} } = options;
  const settings = {
    timeZone: options.timeZone ?? "+00:00",
    bufferPool: options.bufferPool ?? "256M",
    serverOptions: options.serverOptions ?? [],
  };
  const binary = findServerBinary(log);
  log(`starting a private ${binary.engine} ${binary.version} (${binary.path}) ...`);
  const startedAt = performance.now();
  const folder = createSupervisedFolder("revenue-database-");
  try {
    await createDataDirectory(binary, folder, settings);
    const urlOn = writeAccount(binary, folder.path);
    for (let attempt = 1; ; attempt++) {
      const port = await freePort();
      const database = new PrivateDatabase(binary, folder, urlOn(port), () =>
        folder.run(serverCommand(binary, folder.path, port, settings)),
      );
      try {
        await database.start();
        const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
        log(`${binary.engine} answers on 127.0.0.1:${port} after ${seconds} s`);
        return database;
      } catch (error) {
        const portTaken = /address already in use/i.test(folder.logTail());
        if (attempt === PORT_ATTEMPTS || !portTaken) throw error;
      }
    }
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

/** A private server. The methods other than `stop` are for tests of failures. */
export class PrivateDatabase {
  /** `mysql://user:password@127.0.0.1:port/revenue`. The account has all privileges. */
  readonly url: string;
  readonly server: Pick<ServerBinary, "engine" | "version">;
  /** The folder with its files: `data`, `tmp`, `socket`, `pid`, `log`. */
  readonly folder: string;
  readonly #folder: SupervisedFolder;
  readonly #run: () => Promise<SupervisedProcess>;
  #process: SupervisedProcess | undefined;

  /** Called by `startPrivateDatabase` only. */
  constructor(
    server: ServerBinary,
    folder: SupervisedFolder,
    url: string,
    run: () => Promise<SupervisedProcess>,
  ) {
    this.server = { engine: server.engine, version: server.version };
    this.folder = folder.path;
    this.url = url;
    this.#folder = folder;
    this.#run = run;
  }

  /** The server's process id; undefined while it is not running. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Stops the server and removes its files. */
  stop(): Promise<void> {
    return this.#folder.remove();
  }

  /** Kills the server with SIGKILL, as in a crash. Committed data survives. */
  async kill(): Promise<void> {
    this.#process?.signal("SIGKILL");
    await this.#process?.ended;
  }

  /** Suspends the server with SIGSTOP: connections stay open, but nothing is answered. */
  async suspend(): Promise<void> {
    if (this.#process === undefined) return;
    this.#process.signal("SIGSTOP");
    await untilSuspended(this.#process.pid);
  }

  /** Resumes a suspended server. */
  resume(): void {
    this.#process?.signal("SIGCONT");
  }

  /** Starts the server again after `kill`, on the same data and port. Resolves when it accepts connections. */
  async start(): Promise<void> {
    if (this.#process !== undefined) throw new Error("the private database is already running");
    const process = await this.#run();
    this.#process = process;
    const ended = process.ended.then((exit) => {
      this.#process = undefined;
      return exit;
    });
    const starting = new AbortController();
    try {
      const exit = await Promise.race([ended, untilReady(this.url, starting.signal)]);
      if (exit !== undefined) {
        throw new Error(`the private database ended ${exit}:\n${this.#folder.logTail()}`);
      }
    } finally {
      starting.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Resolves when the server at the URL answers a query, or when the signal aborts. */
async function untilReady(url: string, signal: AbortSignal): Promise<undefined> {
  const deadline = performance.now() + TIME_LIMIT;
  while (!signal.aborted) {
    try {
      const connection = await createConnection({ uri: url, connectTimeout: 10_000 });
      await connection.query("SELECT 1");
      await connection.end();
      return;
    } catch (error) {
      if (performance.now() > deadline) {
        throw new Error("the private database does not accept connections", { cause: error });
      }
      await sleep(50);
    }
  }
}
