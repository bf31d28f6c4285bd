/** `npm run migrate`: brings the schema of the database in `DATABASE_URL` up to date, or checks it. */
import { Option } from "commander";
import type { Knex } from "knex";
import { ForeignTables } from "../db/adoption.ts";
import { BRIEF_LOCKS } from "../db/brief-locks.ts";
import { migrateToLatest, unlockMigrations } from "../db/migrate.ts";
import { requireOneShard } from "../db/shards.ts";
import { createCommand } from "./command.ts";
import { printErrors } from "./contract.ts";
import { checkLedgerOf } from "./migrate-check.ts";
import { runOnDatabase } from "./run.ts";

/** How long the server may count, in ms: a scan of some 100 million rows. */
const MAX_COUNT = 300_000;

interface Flags {
  readonly check?: boolean;
  readonly skipCounts?: boolean;
  readonly unlock?: boolean;
}

const program = createCommand(
  "npm run migrate",
  "Brings the schema of the database in DATABASE_URL up to date, and adopts tables that it has.",
)
  .option("--check", "count what is wrong in tables that others have made; changes nothing")
  .option("--skip-counts", "with --check: do not count rows")
  .addOption(
    new Option("--unlock", "free the lock that a killed run has left").conflicts(["check"]),
  )
  .action(({ check: isCheck, skipCounts = false, unlock: isUnlock }: Flags) => {
    if (isCheck) {
      return runOnDatabase((database) => check(database, !skipCounts), { maxStatement: MAX_COUNT });
    }
    if (skipCounts) program.error("error: --skip-counts needs --check");
    return runOnDatabase(isUnlock ? unlock : migrate, BRIEF_LOCKS);
  });
await program.parseAsync();

async function check(database: Knex, isCounted: boolean): Promise<void> {
  await requireOneShard(database);
  const { errors, warnings } = await checkLedgerOf(database, isCounted);
  for (const warning of warnings) console.error(`warning: ${warning}`);
  if (printErrors(errors)) console.log("ok: what is there is as the service's statements need it");
  else process.exitCode = 1;
}

async function unlock(database: Knex): Promise<void> {
  await unlockMigrations(database);
  console.log("the lock is free: run `npm run migrate`");
}

async function migrate(database: Knex): Promise<void> {
  const ran = await migrateToLatest(database, (line) => console.log(line)).catch((error) => {
    if (!(error instanceof ForeignTables)) throw error;
    printErrors(error.reasons);
    process.exitCode = 1;
  });
  if (ran === undefined) return;
  console.log(
    ran.length === 0
      ? "the schema was up to date"
      : `the schema is up to date: ${ran.length} ${ran.length === 1 ? "migration" : "migrations"} ran`,
  );
}
