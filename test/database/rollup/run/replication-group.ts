/** A group of two servers of MySQL's Group Replication, both of which take writes. */
import { randomUUID } from "node:crypto";
import type { Knex } from "knex";
import { freePort } from "../../../../dev/free-port.ts";
import {
  type PrivateDatabase,
  startPrivateDatabase,
} from "../../../../dev/private-database/private-database.ts";
import { testPool } from "../../../support/database.ts";

/** Starts the servers, and joins them to a group. Each has an account of its own. */
export async function startGroup(): Promise<readonly [PrivateDatabase, PrivateDatabase]> {
  const [name, ports] = [randomUUID(), [await freePort(), await freePort()]];
  const start = (nth: number) =>
    startPrivateDatabase({
      bufferPool: "64M",
      serverOptions: [
        `--server-id=${nth + 1}`,
        "--log-bin=binlog",
        "--gtid-mode=ON",
        "--enforce-gtid-consistency=ON",
        "--report-host=127.0.0.1",
        "--plugin-load-add=group_replication.so",
        `--group-replication-group-name=${name}`,
        `--group-replication-local-address=127.0.0.1:${ports[nth]}`,
        `--group-replication-group-seeds=${ports.map((port) => `127.0.0.1:${port}`).join(",")}`,
        "--group-replication-start-on-boot=OFF",
        "--group-replication-recovery-get-public-key=ON",
        "--group-replication-single-primary-mode=OFF",
        "--group-replication-enforce-update-everywhere-checks=ON",
      ],
    });
  const [first, second] = await Promise.all([start(0), start(1)]);
  const { username, password } = new URL(first.url);
  const join = `START GROUP_REPLICATION USER = '${username}', PASSWORD = '${password}'`;
  // What a server has logged before, the group would lack.
  const forget = "RESET BINARY LOGS AND GTIDS";
  const bootstrap = (on: boolean) => `SET GLOBAL group_replication_bootstrap_group = ${on}`;
  await inSession(first.url, [forget, bootstrap(true), join, bootstrap(false)]);
  await inSession(second.url, [forget, join]);
  return [first, second];
}

async function inSession(url: string, statements: readonly string[]): Promise<void> {
  const session: Knex = testPool(url, { maxConnections: 1 });
  for (const statement of statements) await session.raw(statement);
  await session.destroy();
}
