/** What the rollup of a large provider costs: runs of the command itself, its memory, and space. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pidusage from "pidusage";
import { parseDatabaseUrl } from "../src/config.ts";
import { createPool } from "../src/db/pool.ts";
import { addCharges } from "./ledger.ts";

const COMMAND = join(import.meta.dirname, "../src/cli/rollup.ts");
/** The numbers of charges that are recorded before each of the later runs. */
const NEWS = [0, 250, 10_000];

/** Runs the command on a database without rollups, and again after some news. Returns a row of a table. */
export async function measureRollup(url: string, charges: number) {
  const database = createPool(parseDatabaseUrl(url));
  try {
    const first = await runCommand(url);
    await database.raw("ANALYZE TABLE rollups, rollup_sums, rollup_increments");
    const passes: Record<string, string> = {};
    for (const news of NEWS) {
      await addCharges(database, news);
      // The margin is a second: what was recorded must be older.
      await sleep(1_500);
      const { seconds } = await runCommand(url);
      passes[`${news.toLocaleString("en")} new (s)`] = seconds.toFixed(2);
    }
    const [[{ rows }]] = await database.raw(
      "SELECT (SELECT COUNT(*) FROM rollup_sums) + (SELECT COUNT(*) FROM rollup_increments) AS `rows`",
    );
    const [[{ bytes }]] = await database.raw(
      `SELECT SUM(data_length + index_length) AS bytes FROM information_schema.TABLES
       WHERE table_schema = DATABASE() AND table_name IN ('rollup_sums', 'rollup_increments')`,
    );
    return {
      "first (s)": first.seconds.toFixed(1),
      "charges/s": Math.round(charges / first.seconds).toLocaleString("en"),
      "memory (MB)": (first.memory / 1e6).toFixed(0),
      ...passes,
      rows: Number(rows).toLocaleString("en"),
      "space (MB)": (Number(bytes) / 1e6).toFixed(1),
    };
  } finally {
    await database.destroy();
  }
}

/** Runs `npm run rollup`. Resolves to how long it took, and to the most memory (RSS, bytes) that was seen. */
async function runCommand(url: string): Promise<{ seconds: number; memory: number }> {
  const startedAt = performance.now();
  const command = spawn(process.execPath, [COMMAND, "--margin", "1"], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ["ignore", "ignore", "inherit"],
  });
  let memory = 0;
  const sample = setInterval(() => {
    pidusage(command.pid ?? 0).then((usage) => {
      memory = Math.max(memory, usage.memory);
    }, ignore);
  }, 100);
  const [code] = await once(command, "exit");
  clearInterval(sample);
  if (code !== 0) throw new Error(`the command ended with ${code}`);
  return { seconds: (performance.now() - startedAt) / 1_000, memory };
}

/** The command has ended between two samples. */
const ignore = () => {};
