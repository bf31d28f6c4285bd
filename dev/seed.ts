/** `npm run seed`: loads demo data into an empty database. */
import { createCommand } from "../src/cli/command.ts";
import { runOnDatabase } from "../src/cli/run.ts";
import { formatTable } from "../src/cli/table.ts";
import { seed } from "./demo-data/seed.ts";

await createCommand(
  "npm run seed",
  "Loads demo data into the database in DATABASE_URL, which must be empty.",
)
  .action(() =>
    runOnDatabase(async (database) => {
      const providers = await seed(database, Date.now(), console.log);
      const rows = providers.map(({ id, servers, charges, name }) => [
        String(id),
        String(servers),
        String(charges),
        name,
      ]);
      console.log(`\n${formatTable(["PROVIDER", "SERVERS", "CHARGES", "NAME"], rows)}\n`);
      console.log("Next, create a key for the first provider: npm run key -- create --provider 1");
    }),
  )
  .parseAsync();
