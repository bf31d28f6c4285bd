/** `npm run migrate`: brings the schema of the database in `DATABASE_URL` up to date. */
import { parseArgs } from "node:util";
import { migrateToLatest, unlockMigrations } from "../db/migrate.ts";
import { runOnDatabase } from "./run.ts";

await runOnDatabase(async (database) => {
  const { values } = parseArgs({ options: { unlock: { type: "boolean" } } });
  if (values.unlock) {
    await unlockMigrations(database);
    console.log("the lock is free: run `npm run migrate`");
    return;
  }
  const ran = await migrateToLatest(database, (line) => console.log(line));
  console.log(
    ran.length === 0
      ? "the schema was up to date"
      : `the schema is up to date: ${ran.length} ${ran.length === 1 ? "migration" : "migrations"} ran`,
  );
});
