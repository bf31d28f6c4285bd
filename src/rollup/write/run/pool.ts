/**
 * The connections of the command. In a cluster each session first waits until its node has applied
 * what was committed before on the others: a rollup read from a node that lags would lack it.
 */
import knexModule, { type Knex } from "knex";
import type { Connection, RowDataPacket } from "mysql2";
import type { DatabaseUrl } from "../../../config.ts";
import { knexConfig } from "../../../db/pool.ts";

/** The session variables that make reads wait, and the values that they need. */
const WAIT_FOR_CLUSTER: Readonly<Record<string, string>> = {
  wsrep_sync_wait: "1", // Galera
  group_replication_consistency: "'BEFORE'",
};

/**
 * Creates a pool for rollup runs.
 *
 * @param maxConnections at least one more than the providers that a run works on at once
 * @param warn called if a session may not be told to wait for its cluster
 */
export function createRollupPool(
  url: DatabaseUrl,
  maxConnections: number,
  warn: (message: string) => void,
): Knex {
  const config = knexConfig(url, { maxConnections });
  const prepare = config.pool?.afterCreate;
  const afterCreate = (connection: Connection, done: (error: Error | null) => void) =>
    prepare?.(connection, (error: Error | null) => {
      if (error) done(error);
      else waitForCluster(connection, warn).then(() => done(null), done);
    });
  return knexModule({ ...config, pool: { ...config.pool, afterCreate } });
}

/** Sets the variables that the server has. */
async function waitForCluster(
  connection: Connection,
  warn: (message: string) => void,
): Promise<void> {
  const session = connection.promise();
  const names = Object.keys(WAIT_FOR_CLUSTER);
  const [variables] = await session.query<RowDataPacket[]>(
    `SHOW SESSION VARIABLES WHERE Variable_name IN (${names.map(() => "?").join(", ")})`,
    names,
  );
  for (const { Variable_name: name } of variables) {
    try {
      await session.query(`SET SESSION ${name} = ${WAIT_FOR_CLUSTER[name]}`);
    } catch (error) {
      if (!(error instanceof Error) || !("sqlState" in error)) throw error;
      warn(`cannot set ${name}, so the rollup may read a node that lags: ${error.message}`);
    }
  }
}
