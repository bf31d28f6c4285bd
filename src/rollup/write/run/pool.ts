/**
 * The connections of the command. In a cluster each session first waits until its node has applied
 * what was committed before on the others: a rollup read from a node that lags would lack it.
 */
import knexModule, { type Knex } from "knex";
import type { Connection, RowDataPacket } from "mysql2";
import type { DatabaseTarget } from "../../../config.ts";
import { knexConfig } from "../../../db/pool.ts";

/** The session variables that make reads wait, and the values that they need. */
const WAIT_FOR_CLUSTER: Readonly<Record<string, string>> = {
  wsrep_sync_wait: "1", // Galera
  group_replication_consistency: "'BEFORE'",
};

/** The variable that names the group that a server of Group Replication is in. */
const GROUP = "group_replication_group_name";

/**
 * Creates a pool for rollup runs.
 *
 * @param maxConnections at least one more than the providers that a run works on at once
 * @param warn called if a session may not be told to wait for its cluster
 */
export function createRollupPool(
  url: DatabaseTarget,
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

/** Sets the variables of the cluster that the server is in. */
async function waitForCluster(
  connection: Connection,
  warn: (message: string) => void,
): Promise<void> {
  const session = connection.promise();
  const names = [...Object.keys(WAIT_FOR_CLUSTER), GROUP];
  const [variables] = await session.query<RowDataPacket[]>(
    `SHOW SESSION VARIABLES WHERE Variable_name IN (${names.map(() => "?").join(", ")})`,
    names,
  );
  const values = new Map<string, string>(
    variables.map(({ Variable_name: name, Value: value }) => [name, value]),
  );
  // A server that is in no group has the other variable all the same, and vtgate does not set it.
  if (!values.get(GROUP)) values.delete("group_replication_consistency");
  for (const [name, value] of Object.entries(WAIT_FOR_CLUSTER)) {
    if (!values.has(name)) continue;
    try {
      await session.query(`SET SESSION ${name} = ${value}`);
    } catch (error) {
      if (!(error instanceof Error) || !("sqlState" in error)) throw error;
      warn(`cannot set ${name}, so the rollup may read a node that lags: ${error.message}`);
    }
  }
}
