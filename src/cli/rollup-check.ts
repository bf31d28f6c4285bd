/** `npm run rollup -- --check`: whether its account has its rights, before it starts. Nothing is written. */
import type { Knex } from "knex";
import { describeRefusal, refusedStatements, type Statements } from "../db/contract/rights.ts";
import { checkSchema } from "../db/pending-migrations.ts";
import { WRITE_HEARTBEAT } from "../rollup/write/run/heartbeat.ts";

/** The tables that it reads alone. */
const READ = ["providers", "servers", "instances", "rentals", "charges"];
/** The tables that it writes. */
const WRITTEN = ["rollups", "rollup_sums", "rollup_increments"];

/** A statement for each right. They are prepared, and not run. */
const NEEDED: Statements = Object.fromEntries([
  ...[...READ, ...WRITTEN].map((table) => [`SELECT on ${table}`, `SELECT * FROM ${table}`]),
  ...WRITTEN.flatMap((table) => [
    [`INSERT on ${table}`, `INSERT INTO ${table} SELECT * FROM ${table}`],
    [`UPDATE on ${table}`, `UPDATE ${table} SET provider_id = provider_id`],
    [`DELETE on ${table}`, `DELETE FROM ${table}`],
  ]),
  ["WRITE_HEARTBEAT", WRITE_HEARTBEAT],
]);

/** Prints what is missing, and sets the exit code to 1 if anything is. */
export async function checkRights(database: Knex): Promise<void> {
  await checkSchema(database);
  const refused = await refusedStatements(database, NEEDED);
  for (const refusal of refused) console.error(`error: ${describeRefusal(refusal)}`);
  if (refused.length === 0) console.log("ok: the account may run every statement of the rollups");
  else process.exitCode = 1;
}
