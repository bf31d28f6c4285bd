/**
 * `npm run demo`: the service with demo data, on a private database or on the one in
 * DATABASE_URL, until Ctrl-C.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createCommand } from "../src/cli/command.ts";
import { formatInstructions } from "./demo/instructions.ts";
import { type RunningScript, startScript } from "./demo/script.ts";
import { type RunningService, startService } from "./demo/service.ts";
import { createKey, migrate, rollUp, seed } from "./demo/setup.ts";
import { type PrivateDatabase, startPrivateDatabase } from "./private-database/private-database.ts";

createCommand("npm run demo", "Serves demo data on a private database, until Ctrl-C.").parse();

const log = (line: string) => console.error(line);

let database: Promise<PrivateDatabase> | undefined;
let rollup: RunningScript | undefined;
let service: RunningService | undefined;
let stopping = false;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stop(0));
stopWithNpm();

try {
  const databaseUrl = process.env.DATABASE_URL;
  if (!databaseUrl) database = startPrivateDatabase({ log });
  const url = databaseUrl || (await database)?.url || "";

  log("bringing the schema up to date ...");
  await migrate(url);
  log("loading demo data ...");
  await seed(url, databaseUrl ? log : undefined);
  log("rolling it up ...");
  await rollUp(url);
  rollup = startScript(["src/cli/rollup.ts", "--watch", "30"], { DATABASE_URL: url }, "ignore");
  const key = await createKey(url);

  log("starting the service ...");
  service = await startService(url, log);
  service.ended.then((exit) => {
    if (stopping) return;
    log(`The service ended unexpectedly ${exit}.`);
    stop(1);
  });
  await service.untilReady(key);
  console.log(formatInstructions(service, key, databaseUrl ? undefined : url));
} catch (error) {
  if (!stopping) {
    log(error instanceof Error ? error.message : String(error));
    await stop(1);
  }
}

/** Stops the service, which finishes the calls in flight, then the rollup, then the database. */
async function stop(exitCode: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  log("stopping ...");
  await service?.stop();
  await rollup?.stop();
  await database?.then(
    (started) => started.stop(),
    () => {}, // it did not start
  );
  log("stopped; nothing is left running");
  process.exit(exitCode);
}

/** Stops the demo if npm is killed by SIGKILL: this process then gets another parent. */
async function stopWithNpm(): Promise<void> {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  while (process.ppid === npm) await sleep(1_000, undefined, { ref: false });
  stop(1);
}
