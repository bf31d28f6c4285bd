/**
 * The lease on the schema: a row that says which run may migrate, on all nodes of a cluster.
 *
 * A lock on a row holds on one node only. What nodes agree on is which of two conflicting commits
 * is first (Galera and Group Replication certify each), so the right to migrate is a committed row.
 * Its owner renews it. A run that waits counts the time without a renewal by its own clock, because
 * the clocks of nodes differ; if the owner is alive after all, one of the two commits fails.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";

/** How long an owner may be silent until another run takes the lease, in ms. */
export const LEASE_TIMEOUT = 30_000;
/** How long a run waits for another run to finish, in ms. */
export const MAX_WAIT = 600_000;
/** How long a run waits before it looks at another's lease again, in ms. */
const POLL_INTERVAL = 200;

/** The owner of a lease that this node does not know yet; no run has this id. */
const UNKNOWN = "unknown";

/** Who asks for the lease. */
export interface LeaseOptions {
  /** The id of the run. */
  readonly owner: string;
  /** The place where no other run is alive: a server whose guard the run holds. */
  readonly place: string;
  /** How long an owner may be silent, in ms. */
  readonly timeout: number;
}

/** Another run has taken the lease. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** Another run did not finish within `MAX_WAIT`. */
export class WaitTimeout extends Error {
  override readonly name = "WaitTimeout";
  override readonly message = `another migration has been running for ${MAX_WAIT / 60_000} minutes`;
}

/** Creates the table and its row, with no owner. Safe to run concurrently. */
export async function createLease(database: Knex, tableOptions: string): Promise<void> {
  await database.raw(
    `CREATE TABLE IF NOT EXISTS migration_lease (
       id int unsigned NOT NULL PRIMARY KEY, owner varchar(64) NOT NULL,
       place varchar(768) NOT NULL, renewals bigint unsigned NOT NULL
     ) ${tableOptions}`,
  );
  await database.raw("INSERT IGNORE INTO migration_lease VALUES (1, '', '', 0)");
}

/**
 * Waits for the lease, and resolves once the run owns it.
 *
 * @throws WaitTimeout if another run renews it for longer than `MAX_WAIT`
 */
export async function takeLease(
  database: Knex,
  { owner, place, timeout }: LeaseOptions,
): Promise<void> {
  const began = performance.now();
  let seen = "";
  let since = began;
  for (;;) {
    if (performance.now() - began > MAX_WAIT) throw new WaitTimeout();
    const row = await database("migration_lease").where({ id: 1 }).first();
    // Behind a balancer: the row was created on another node, and is not on this one yet.
    const { owner: holder = UNKNOWN, renewals = 0, place: other } = row ?? {};
    if (`${holder} ${renewals}` !== seen) since = performance.now();
    seen = `${holder} ${renewals}`;
    const expired = performance.now() - since >= timeout;
    if (holder === "" || holder === owner || other === place || expired) {
      const taken = await database("migration_lease")
        .where({ id: 1, owner: holder, renewals })
        .update({ owner, place, renewals: database.raw("renewals + 1") });
      if (taken === 1) return;
    } else await sleep(Math.min(POLL_INTERVAL, timeout));
  }
}

/**
 * Renews the lease.
 *
 * @throws LeaseLost if another run has taken it
 */
export async function renewLease(database: Knex, owner: string): Promise<void> {
  const renewed = await database("migration_lease")
    .where({ id: 1, owner })
    .update({ renewals: database.raw("renewals + 1") });
  if (renewed === 0) throw new LeaseLost("another run has taken the lease on the schema");
}

/** Gives the lease back, if the run still owns it. */
export async function releaseLease(database: Knex, owner: string): Promise<void> {
  await database("migration_lease").where({ id: 1, owner }).update({ owner: "" });
}
