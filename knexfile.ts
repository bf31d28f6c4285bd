/** For Knex's own command line: `npx knex migrate:status`. The service reads `src/settings.ts`. */
import { knexConfig } from "./src/database/connection.ts";
import { migrations } from "./src/database/migrate.ts";
import { readDatabaseUrl } from "./src/settings.ts";

export default { ...knexConfig(readDatabaseUrl(process.env)), migrations };
