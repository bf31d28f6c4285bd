/** `npm run rollup`: brings the rollups up to date, in the database in `DATABASE_URL`. */
import { setTimeout as sleep } from "node:timers/promises";
import { SingleBar } from "cli-progress";
import { Command, InvalidArgumentError, Option } from "commander";
import type { Knex } from "knex";
import { END } from "../rollup/timeline.ts";
import { type RollupOptions, type RollupProgress, rollUp } from "../rollup/write/run.ts";
import { verify } from "../rollup/write/verify.ts";
import { formatError } from "./format-error.ts";
import { runOnDatabase } from "./run.ts";

interface Flags {
  readonly margin: number;
  readonly watch?: number;
  readonly rebuild?: boolean;
  readonly verify?: boolean;
}

const program = new Command("rollup")
  .description("Brings the rollups up to date.")
  .option("--margin <seconds>", "how long a writer's transaction may be open", toSeconds, 60)
  .option("--watch <seconds>", "repeat until SIGTERM, with this pause between runs", toSeconds)
  .option("--rebuild", "build every rollup again; queries use the old one meanwhile")
  .addOption(
    new Option(
      "--verify",
      "compare with the ledger and print every difference; exit code 1 if there is one",
    ).conflicts(["rebuild", "watch"]),
  )
  .action((flags: Flags) =>
    runOnDatabase((database) => (flags.verify ? verifyAll(database) : run(database, flags))),
  );
await program.parseAsync();

async function run(database: Knex, { margin, watch, rebuild = false }: Flags): Promise<void> {
  const stop = new AbortController();
  process.once("SIGTERM", () => stop.abort());
  process.once("SIGINT", () => stop.abort());
  const options = { margin: margin * 1000, signal: stop.signal };
  if (watch === undefined) return runOnce(database, { ...options, rebuild });
  for (let first = true; !stop.signal.aborted; first = false) {
    // An unavailable database may come back. Meanwhile answers read more rows.
    await runOnce(database, { ...options, rebuild: rebuild && first }).catch((error) => {
      console.error(`run failed, will retry: ${formatError(error)}`);
    });
    await sleep(watch * 1000, undefined, { signal: stop.signal }).catch(() => {});
  }
}

async function runOnce(database: Knex, options: RollupOptions): Promise<void> {
  const started = performance.now();
  const bar = new SingleBar({
    format: "{bar} {value}/{total} providers, {charges} charges{building}",
    stream: process.stderr,
    clearOnComplete: true,
  });
  const report = (progress: RollupProgress) => show(bar, progress);
  try {
    const { charges, providers } = await rollUp(database, { ...options, report });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(
      options.signal?.aborted
        ? `stopped after ${seconds} s, ${charges} charges added`
        : `${charges} charges added, ${providers} providers up to date, ${seconds} s`,
    );
  } finally {
    bar.stop();
  }
}

async function verifyAll(database: Knex): Promise<void> {
  let differences = 0;
  for (const provider of await database("providers").orderBy("id").pluck("id")) {
    for await (const difference of verify(database, String(provider))) {
      console.log(difference);
      differences++;
    }
  }
  console.log(
    differences === 0
      ? "the rollups agree with the ledger"
      : `${differences} ${differences === 1 ? "difference" : "differences"}`,
  );
  if (differences > 0) process.exitCode = 1;
}

/** Shows the progress of a run. The bar shows nothing if stderr is not a terminal. */
function show(bar: SingleBar, { done, providers, charges, building = END }: RollupProgress): void {
  const position = building === END ? "" : `, building ${building.slice(0, 10)}`;
  if (!bar.isActive) bar.start(providers, 0, { charges: 0, building: "" });
  bar.update(done, { charges, building: position });
}

function toSeconds(text: string): number {
  if (/^\d{1,6}(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Expected a number of seconds, such as 60.");
}
