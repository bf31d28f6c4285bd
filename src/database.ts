/** The database as the service uses it: its pools, how their sessions are set up, and what a start demands of it. */
import type { Knex } from "knex";
import { PROBE_CONNECTIONS } from "./admin/database-probe.ts";
import { serviceStatements } from "./cli/statements.ts";
import type { Config, DatabaseTarget } from "./config.ts";
import { describeRefusal, refusedStatements, type Statements } from "./db/contract/rights.ts";
import { checkSchema } from "./db/pending-migrations.ts";
import { createPool } from "./db/pool.ts";
import { POOL_WAIT } from "./db/query.ts";
import { checkSession } from "./db/session-variables.ts";

/** Connections to the database for looking up API keys. */
export const KEY_CONNECTIONS = 4;
/** How much longer than a call its statement may run on the database, in ms. */
const STATEMENT_GRACE = 500;

/**
 * How sessions are set up. The database ends a statement after the deadline of its call, and calls that may
 * take long wait longer for a connection.
 */
export function sessionOptions({ maxCall }: Config) {
  const wait = Math.max(POOL_WAIT, maxCall / 5);
  const maxStatement = maxCall + STATEMENT_GRACE;
  return { readOnly: true, maxStatement, connectTimeout: wait, poolWait: wait };
}

/** The statements that the service sends. */
export function statementsOf({ readMaxLag }: Config): Statements {
  return serviceStatements(readMaxLag > 0);
}

/** @throws Error if a session of the database is not as it must be */
export function checkSessionOf(
  config: Config,
  database: Knex,
  warn: (message: string) => void,
): Promise<void> {
  const connections = config.poolSize + KEY_CONNECTIONS + PROBE_CONNECTIONS;
  return checkSession(database, sessionOptions(config), connections, warn);
}

/** @throws Error if a session, or the schema, is not as it must be, or the account may not run a statement */
export async function checkDatabase(
  config: Config,
  database: Knex,
  warn: (message: string) => void,
): Promise<void> {
  await checkSessionOf(config, database, warn);
  await checkSchema(database);
  const [refused] = await refusedStatements(database, statementsOf(config));
  if (refused !== undefined) throw new Error(describeRefusal(refused));
}

/** Opens a pool of read-only connections. */
export function openPool(
  config: Config,
  maxConnections: number,
  url: DatabaseTarget,
  warn?: (message: string) => void,
): Knex {
  return createPool(url, {
    ...sessionOptions(config),
    maxConnections,
    ...(warn && { warn }),
  });
}
