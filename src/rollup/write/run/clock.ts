/**
 * The clock of a run: the database's own, which also sets `recorded_at`, and the watermark that a
 * run may move to. It stays behind what may still commit.
 */
import type { Knex } from "knex";
import { FIRST_INSTANT, fromDatetime, toDatetime } from "../../../db/datetime.ts";
import { TABLES } from "../../coverage.ts";
import { FORMAT } from "../../sums.ts";
import { findWriters, type Writer } from "./writers.ts";

/** The instants of a run, as DATETIME(3) text in UTC. */
export interface Clock {
  /** When the run began. */
  readonly now: string;
  /** The watermark to move to: nothing that was recorded up to it can commit any more. */
  readonly until: string;
  /** What `until` waits for, if it does. */
  readonly waitsFor: Wait | undefined;
}

/**
 * A transaction or a statement that holds the watermark back. Without `began` it is a prepared XA transaction
 * that has outlived a restart of the server: it began before that.
 */
export type Wait = Omit<Writer, "began"> & { readonly began: string | undefined };

/** The resolution of the start of a transaction, in ms. */
const RESOLUTION = 1_000;

/**
 * Reads the clock, and then who may still write.
 *
 * @param margin how long a writer's transaction may be open, in ms
 * @param seesTransactions whether to wait for transactions and statements that are older
 * @param ignoredSchemas default databases of sessions that do not write the ledger, where locks cannot tell
 */
export async function readClock(
  database: Knex,
  margin: number,
  seesTransactions: boolean,
  ignoredSchemas: readonly string[] = [],
): Promise<Clock> {
  const [[{ instant }]] = await database.raw("SELECT UTC_TIMESTAMP(3) AS instant");
  const latest = fromDatetime(instant) - margin;
  const writers = seesTransactions
    ? await findWriters(database, latest + RESOLUTION, ignoredSchemas)
    : [];
  const at = (until: number, waitsFor?: Wait): Clock => ({
    now: instant,
    until: toDatetime(Math.min(until, latest)),
    waitsFor,
  });
  const recovered = await findRecovered(database, instant, writers);
  if (recovered !== undefined) {
    return at(await latestWatermark(database, instant), { ...recovered, began: undefined });
  }
  const oldest = writers.find(({ began }) => fromDatetime(began) - RESOLUTION < latest);
  return oldest ? at(fromDatetime(oldest.began) - RESOLUTION, oldest) : at(latest);
}

/**
 * From the start of the server to when its crash recovery must have ended, in s. On MySQL, an XA
 * transaction that is prepared within it cannot be told from one that was recovered.
 */
const RECOVERY = 1_800;

/**
 * An XA transaction that was prepared before the server was started, if there is one. It looks as if it had
 * begun when it was recovered.
 */
async function findRecovered(
  database: Knex,
  now: string,
  writers: readonly Writer[],
): Promise<Writer | undefined> {
  const detached = writers.filter(({ session }) => session === undefined);
  if (detached.length === 0) return undefined;
  const [[{ Value: uptime }]] = await database.raw("SHOW GLOBAL STATUS LIKE 'Uptime'");
  const recovered = fromDatetime(now) - 1_000 * (Number(uptime) - RECOVERY);
  return detached.find(({ began }) => fromDatetime(began) < recovered);
}

/**
 * The latest watermark of all rollups, in epoch ms. Earlier runs have waited for whatever was open, so a
 * watermark that goes no further passes nothing of it.
 */
async function latestWatermark(database: Knex, now: string): Promise<number> {
  const latest = await database(TABLES.rollups)
    .where({ format: FORMAT, building: 0 })
    .where("watermark", "<=", now)
    .max("watermark AS at")
    .first();
  return fromDatetime(latest?.at ?? FIRST_INSTANT);
}
