/** For Knex's own command line: `npx knex migrate:status`. The service reads `src/config.ts`. */

import { readDatabaseUrl } from "./src/config.ts";
import { migrations } from "./src/db/migrate.ts";
import { knexConfig } from "./src/db/pool.ts";

export default { ...knexConfig(readDatabaseUrl(process.env)), migrations };
