/** Configuration of Knex's command line: `npx knex migrate:status`. Reads DATABASE_URL, as the service does. */

import { readDatabaseUrl } from "./src/config.ts";
import { migrations } from "./src/db/migrate.ts";
import { knexConfig } from "./src/db/pool.ts";

export default { ...knexConfig(readDatabaseUrl(process.env)), migrations };
