/**
 * A private, throw-away MySQL or MariaDB server: its own folder, port and
 * account, and gone when this process is, however it ends.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createConnection } from "mysql2/promise";
import { freePort } from "../free-port.ts";
import { writeAccount } from "./account.ts";
import { createDataDirectory } from "./data-directory.ts";
import { findServerBinary, type ServerBinary } from "./server-binary.ts";
import { type ServerSettings, serverCommand } from "./server-options.ts";
import { standstill } from "./suspension.ts";
import { createWatchedFolder, type WatchedFolder, type WatchedProcess } from "./watched-folder.ts";

export interface PrivateDatabaseOptions extends Partial<ServerSettings> {
  /** Told what is being done, a line at a time. Silent by default. */
  readonly say?: (line: string) => void;
}

/** How long a server may take until it answers, in milliseconds. */
const START_TIMEOUT = 120_000;

/** How many ports are tried where somebody else was quicker. */
const PORTS = 5;

/**
 * Starts a private server with an empty database. It keeps this process alive
 * until it is stopped. Throws an Error for people, with the server's last words,
 * where it cannot be started; then nothing is left of it.
 */
export async function startPrivateDatabase(
  options: PrivateDatabaseOptions = {},
): Promise<PrivateDatabase> {
  const { say = () => {} } = options;
  const settings = {
    timeZone: options.timeZone ?? "+00:00",
    bufferPool: options.bufferPool ?? "256M",
    serverOptions: options.serverOptions ?? [],
  };
  const binary = findServerBinary(say);
  say(`starting a private ${binary.engine} ${binary.version} (${binary.path}) ...`);
  const begun = performance.now();
  const folder = createWatchedFolder("revenue-database-");
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
        const seconds = ((performance.now() - begun) / 1000).toFixed(1);
        say(`${binary.engine} answers on 127.0.0.1:${port} after ${seconds} s`);
        return database;
      } catch (error) {
        if (attempt === PORTS || !/address already in use/i.test(folder.lastWords())) throw error;
      }
    }
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

/** A private server that was started. Beyond `stop`, its methods are for tests of faults. */
export class PrivateDatabase {
  /** `mysql://user:password@127.0.0.1:port/revenue`; the account may do everything on the server. */
  readonly url: string;
  readonly server: Pick<ServerBinary, "engine" | "version">;
  /** Where its files lie: `data`, `tmp`, `socket`, `pid`, `log`. */
  readonly folder: string;
  readonly #folder: WatchedFolder;
  readonly #run: () => Promise<WatchedProcess>;
  #process: WatchedProcess | undefined;

  /** See `startPrivateDatabase`. */
  constructor(
    server: ServerBinary,
    folder: WatchedFolder,
    url: string,
    run: () => Promise<WatchedProcess>,
  ) {
    this.server = { engine: server.engine, version: server.version };
    this.folder = folder.path;
    this.url = url;
    this.#folder = folder;
    this.#run = run;
  }

  /** The server's process id; undefined while it does not run. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Stops the server for good and removes its files. */
  stop(): Promise<void> {
    return this.#folder.remove();
  }

  /** Kills the server, as a crash would. What was committed stays. */
  async kill(): Promise<void> {
    this.#process?.signal("SIGKILL");
    await this.#process?.ended;
  }

  /** Brings the server to a standstill: connections stay open, nothing answers. */
  async suspend(): Promise<void> {
    if (this.#process === undefined) return;
    this.#process.signal("SIGSTOP");
    await standstill(this.#process.pid);
  }

  /** Lets a suspended server go on. */
  resume(): void {
    this.#process?.signal("SIGCONT");
  }

  /** Starts the server that was killed again, on the same data and port; resolves when it answers. */
  async start(): Promise<void> {
    if (this.#process !== undefined) throw new Error("the private database runs already");
    const process = await this.#run();
    this.#process = process;
    const ended = process.ended.then((how) => {
      this.#process = undefined;
      return how;
    });
    const starting = new AbortController();
    try {
      const how = await Promise.race([ended, answers(this.url, starting.signal)]);
      if (how !== undefined) {
        throw new Error(`the private database ended ${how}:\n${this.#folder.lastWords()}`);
      }
    } finally {
      starting.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Resolves when a server answers a query under the URL, or the signal aborts. */
async function answers(url: string, signal: AbortSignal): Promise<undefined> {
  const deadline = Date.now() + START_TIMEOUT;
  while (!signal.aborted) {
    try {
      const connection = await createConnection({ uri: url, connectTimeout: 2_000 });
      await connection.query("SELECT 1");
      await connection.end();
      return;
    } catch (error) {
      if (Date.now() > deadline) {
        throw new Error("the private database does not answer", { cause: error });
      }
      await sleep(50);
    }
  }
}
