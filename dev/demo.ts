/**
 * `npm run demo`: the whole service on a database of its own with demo data,
 * until Ctrl-C. With DATABASE_URL, on that database.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { greeting } from "./demo/greeting.ts";
import { type RunningRollup, startRollup } from "./demo/rollup.ts";
import { type RunningService, startService } from "./demo/service.ts";
import { createKey, migrate, rollUp, seed } from "./demo/setup.ts";
import { type PrivateDatabase, startPrivateDatabase } from "./private-database/private-database.ts";

const say = (line: string) => console.error(line);

let database: Promise<PrivateDatabase> | undefined;
let rollup: RunningRollup | undefined;
let service: RunningService | undefined;
let stopping = false;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stop(0));
stopWithNpm();

try {
  const given = process.env.DATABASE_URL;
  if (!given) database = startPrivateDatabase({ say });
  const url = given || (await database)?.url || "";

  say("bringing the schema up to date ...");
  await migrate(url);
  say("loading demo data ...");
  await seed(url, given ? say : undefined);
  say("rolling it up ...");
  await rollUp(url);
  rollup = startRollup(url);
  const key = await createKey(url);

  say("starting the service ...");
  service = await startService(url, say);
  service.ended.then((how) => {
    if (stopping) return;
    say(`The service ended by itself, ${how}.`);
    stop(1);
  });
  await service.answers(key);
  console.log(greeting(service, key, !given));
} catch (error) {
  if (!stopping) {
    say(error instanceof Error ? error.message : String(error));
    await stop(1);
  }
}

/** Stops the service, which finishes what is in flight, then the rollup, then the database. */
async function stop(exitCode: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  say("stopping ...");
  await service?.stop();
  await rollup?.stop();
  await database?.then(
    (started) => started.stop(),
    () => {}, // it was never there
  );
  say("stopped; nothing is left running");
  process.exit(exitCode);
}

/** Where npm is killed outright it tells nobody: then its children get another parent. */
async function stopWithNpm(): Promise<void> {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  while (process.ppid === npm) await sleep(1_000, undefined, { ref: false });
  stop(1);
}
