/** `npm run migrate`: brings the schema of the database in `DATABASE_URL` up to date, or checks it. */
import { parseArgs } from "node:util";
import { ForeignTables } from "../db/adoption.ts";
import { migrateToLatest, unlockMigrations } from "../db/migrate.ts";
import { requireOneShard } from "../db/shards.ts";
import { checkContract, printFindings } from "./contract.ts";
import { runOnDatabase } from "./run.ts";
import { serviceStatements } from "./statements.ts";

await runOnDatabase(async (database) => {
  const { values } = parseArgs({
    options: { unlock: { type: "boolean" }, check: { type: "boolean" } },
  });
  if (values.check) {
    await requireOneShard(database);
    const isKept = printFindings(await checkContract(database, serviceStatements(true)));
    if (isKept) console.log("ok: what is there is as the service's statements need it");
    else process.exitCode = 1;
    return;
  }
  if (values.unlock) {
    await unlockMigrations(database);
    console.log("the lock is free: run `npm run migrate`");
    return;
  }
  const ran = await migrateToLatest(database, (line) => console.log(line)).catch((error) => {
    if (!(error instanceof ForeignTables)) throw error;
    for (const reason of error.reasons) console.error(`error: ${reason}`);
    process.exitCode = 1;
  });
  if (ran === undefined) return;
  console.log(
    ran.length === 0
      ? "the schema was up to date"
      : `the schema is up to date: ${ran.length} ${ran.length === 1 ? "migration" : "migrations"} ran`,
  );
});
