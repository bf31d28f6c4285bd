/**
 * A private Redis or Valkey server without persistence, which a test may kill, suspend and restart.
 * It is removed when this process exits for any reason.
 */
import { symlinkSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { freePort } from "../../../dev/free-port.ts";
import {
  canInstallPackages,
  installPackages,
} from "../../../dev/private-database/debian-packages.ts";
import { findProgram } from "../../../dev/private-database/server-binary.ts";
import {
  createSupervisedFolder,
  type SupervisedProcess,
} from "../../../dev/private-database/supervised-folder.ts";
import { untilSuspended } from "../../../dev/private-database/suspend.ts";
import { until } from "../poll.ts";

/** A running server. */
export interface RedisServer {
  /** `redis://127.0.0.1:PORT` */
  readonly url: string;
  /** Kills the server with SIGKILL. Its data is lost. */
  kill(): Promise<void>;
  /** Starts the server again after `kill`, empty, on the same port. Resolves when it answers. */
  start(): Promise<void>;
  /** Suspends the server with SIGSTOP: connections stay open, but nothing is answered. */
  suspend(): Promise<void>;
  /** Resumes a suspended server. */
  resume(): void;
  /** Sends commands, and resolves to the server's replies as it writes them: `+PONG\r\n`. */
  command(...lines: readonly string[]): Promise<string>;
  /** Kills the server and removes its folder. */
  stop(): Promise<void>;
}

const START_TIMEOUT = 20_000;

/**
 * Starts a server on a free port of 127.0.0.1. Installs Debian's package if there is none.
 *
 * @param options of its command line, in addition: `["--requirepass", "secret"]`
 * @throws Error with instructions if there is no server and none can be installed
 */
export async function startRedisServer(options: readonly string[] = []): Promise<RedisServer> {
  const program = findRedis();
  const folder = createSupervisedFolder("revenue-redis-");
  // The checker of dump files is the server itself if it is started under the server's name.
  const server = join(folder.path, "redis-server");
  symlinkSync(program, server);
  const port = await freePort();
  const where = ["--bind", "127.0.0.1", "--port", `${port}`, "--dir", folder.path];
  const command = [server, ...where, "--save", "", "--appendonly", "no", ...options];
  let process: SupervisedProcess | undefined;

  const start = async () => {
    process = await folder.run(command);
    const answers = () =>
      ask(port, ["PING"]).then(
        () => true,
        () => false,
      );
    await until(START_TIMEOUT, answers).catch((error) => {
      throw new Error(`the Redis server did not start:\n${folder.logTail()}`, { cause: error });
    });
  };
  await start().catch(async (error) => {
    await folder.remove();
    throw error;
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    async kill() {
      process?.signal("SIGKILL");
      await process?.ended;
    },
    start,
    async suspend() {
      if (process === undefined) return;
      process.signal("SIGSTOP");
      await untilSuspended(process.pid);
    },
    resume: () => process?.signal("SIGCONT"),
    command: (...lines) => ask(port, lines),
    stop: () => folder.remove(),
  };
}

/** The path of a server's program. */
function findRedis(): string {
  const found = programOnPath();
  if (found !== undefined) return found;
  // Debian's redis-server would also start a server on the standard port.
  if (canInstallPackages()) installPackages(["redis-tools"], console.error);
  const installed = programOnPath();
  if (installed !== undefined) return installed;
  throw new Error(
    "These tests need a Redis or Valkey server. Install one (Debian, Ubuntu: apt-get install redis-server)",
  );
}

function programOnPath(): string | undefined {
  for (const name of ["valkey-server", "redis-server", "redis-check-rdb"]) {
    const path = findProgram(name);
    if (path !== undefined) return path;
  }
  return undefined;
}

/** Sends commands on a connection of its own. Rejects if the server does not accept it, or resets it. */
function ask(port: number, lines: readonly string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let replies = "";
  const socket = connect({ port, host: "127.0.0.1" });
  socket.setEncoding("utf8").on("data", (text: string) => {
    replies += text;
  });
  socket.once("error", reject);
  socket.once("close", () => resolve(replies));
  // The server closes the connection after QUIT, when it has sent all replies.
  socket.write([...lines, "QUIT", ""].join("\r\n"));
  return promise;
}
