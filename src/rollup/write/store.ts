/** Reading and writing the rollup's tables. */
import type { Knex } from "knex";
import { formatCents, parseCents } from "../../db/cents.ts";
import { NO_GENERATION } from "../coverage.ts";
import { TABLES } from "../tables.ts";
import { START } from "../timeline.ts";
import { grossOf, type TotalsByKey, toTotalsByKey } from "./totals-by-key.ts";

/** One generation of a provider's rollup: the current one, or one that is being built. */
export interface Version {
  readonly provider: string;
  readonly generation: string;
}

/** A generation with its watermark: recording time, as DATETIME(3) text in UTC. */
export interface Covered {
  readonly generation: string;
  readonly watermark: string;
}

/** The state of a provider's rollup. */
export interface State extends Covered {
  /** Increases with every write to the totals of the current generation. */
  readonly revision: number;
  /** Event time from which the next slice of the check begins. */
  readonly checkFrom: string;
  /** When the next slice of the check is due, by the database's clock. */
  readonly checkAt: string;
  /** The build in progress. */
  readonly build: Covered | undefined;
}

/** Runs a transaction as READ COMMITTED, which locks the rows that it writes and no gaps. */
export function inShortTransaction<T>(
  database: Knex,
  work: (transaction: Knex.Transaction) => Promise<T>,
): Promise<T> {
  return database.transaction(work, { isolationLevel: "read committed" });
}

/** Runs queries on one snapshot. */
export function inSnapshot<T>(
  database: Knex,
  work: (reader: Knex.Transaction) => Promise<T>,
): Promise<T> {
  return database.transaction(work, { readOnly: true });
}

/**
 * Reads the state of a provider's rollup. A provider without a rollup has `NO_GENERATION`. `lock`
 * locks the row.
 */
export async function readState(
  database: Knex.Transaction,
  provider: string,
  lock = false,
): Promise<State> {
  const query = database(TABLES.state).where({ provider_id: provider });
  if (lock) query.forUpdate();
  const row = await query.first();
  return {
    generation: String(row?.generation ?? NO_GENERATION),
    watermark: row?.cut ?? START,
    revision: Number(row?.revision ?? 0),
    checkFrom: row?.check_from ?? START,
    checkAt: row?.check_at ?? START,
    build: row?.build_generation
      ? { generation: String(row.build_generation), watermark: row.build_cut }
      : undefined,
  };
}

/** The rows of a version in one of the rollup's tables. */
export function rowsOf(database: Knex.Transaction, table: string, version: Version) {
  const { provider, generation } = version;
  return database(table).where({ provider_id: provider, generation });
}

/**
 * All checkpoints of a version, in ascending order: each an instant, and the gross of everything
 * dated before it, in cents.
 */
export async function readCheckpoints(
  database: Knex.Transaction,
  version: Version,
): Promise<{ readonly at: string; readonly gross: bigint }[]> {
  const rows = await rowsOf(database, TABLES.checkpoints, version)
    .orderBy("at")
    .select("at", "gross");
  return rows.map(({ at, gross }) => ({ at, gross: parseCents(gross) }));
}

/** The totals at a checkpoint; none at `START`. */
export async function readTotals(
  database: Knex.Transaction,
  version: Version,
  at: string,
): Promise<TotalsByKey> {
  if (at === START) return new Map();
  return toTotalsByKey(await rowsOf(database, TABLES.totals, version).where({ at }));
}

/** The totals at each of several checkpoints, in their order. */
export async function readTotalsAt(
  database: Knex.Transaction,
  version: Version,
  instants: readonly string[],
): Promise<TotalsByKey[]> {
  const rows = await rowsOf(database, TABLES.totals, version).whereIn("at", [...instants]);
  const byInstant = Map.groupBy(rows, ({ at }) => at);
  return instants.map((at) => toTotalsByKey(byInstant.get(at) ?? []));
}

/** The number of rows in one INSERT. */
const BATCH = 500;

/** Inserts a checkpoint with its totals. */
export async function insertCheckpoint(
  database: Knex.Transaction,
  { provider, generation }: Version,
  at: string,
  totals: TotalsByKey,
): Promise<void> {
  const checkpoint = { provider_id: provider, generation, at };
  // There are rows already only if somebody deleted the checkpoint by hand.
  await database(TABLES.totals).where(checkpoint).del();
  await database(TABLES.checkpoints).insert({ ...checkpoint, gross: formatCents(grossOf(totals)) });
  for (const batch of batchesOf(totals)) {
    await database(TABLES.totals).insert(batch.map((row) => ({ ...checkpoint, ...row })));
  }
}

/** Adds a change to the totals at a checkpoint and at every later one. */
export async function addFrom(
  database: Knex.Transaction,
  version: Version,
  at: string,
  change: TotalsByKey,
): Promise<void> {
  const { provider, generation } = version;
  for (const batch of batchesOf(change)) {
    const selects = batch.map((_, index) =>
      index === 0
        ? "SELECT ? AS server_id, ? AS instance_id, ? AS gross, ? AS charges, ? AS started, ? AS ended"
        : "SELECT ?, ?, ?, ?, ?, ?",
    );
    await database.raw(
      `INSERT INTO ${TABLES.totals}
         (provider_id, generation, at, server_id, instance_id, gross, charges, started, ended)
       SELECT checkpoint.provider_id, checkpoint.generation, checkpoint.at,
              added.server_id, added.instance_id,
              added.gross, added.charges, added.started, added.ended
       FROM ${TABLES.checkpoints} AS checkpoint CROSS JOIN (${selects.join(" UNION ALL ")}) AS added
       WHERE checkpoint.provider_id = ? AND checkpoint.generation = ? AND checkpoint.at >= ?
       ON DUPLICATE KEY UPDATE
         gross = ${TABLES.totals}.gross + VALUES(gross),
         charges = ${TABLES.totals}.charges + VALUES(charges),
         started = ${TABLES.totals}.started + VALUES(started),
         ended = ${TABLES.totals}.ended + VALUES(ended)`,
      [...batch.flatMap((row) => Object.values(row)), provider, generation, at],
    );
  }
  await rowsOf(database, TABLES.checkpoints, version)
    .where("at", ">=", at)
    .update({
      gross: database.raw("gross + CAST(? AS DECIMAL(20, 2))", [formatCents(grossOf(change))]),
    });
}

/** Sets the gross of checkpoints to the sum of their totals. */
export async function recount(
  database: Knex.Transaction,
  version: Version,
  instants: readonly string[],
): Promise<void> {
  for (const at of instants) {
    const totals = await readTotals(database, version, at);
    await rowsOf(database, TABLES.checkpoints, version)
      .where({ at })
      .update({ gross: formatCents(grossOf(totals)) });
  }
}

/** Sets the gross of months (202611), in cents. */
export async function writeMonths(
  database: Knex.Transaction,
  version: Version,
  months: readonly { readonly month: number; readonly gross: bigint }[],
): Promise<void> {
  const { provider, generation } = version;
  for (const { month, gross } of months) {
    await database(TABLES.months)
      .insert({ provider_id: provider, generation, month, gross: formatCents(gross) })
      .onConflict()
      .merge(["gross"]);
  }
}

/** Adds to the gross of months, in cents. */
export async function addToMonths(
  database: Knex.Transaction,
  version: Version,
  months: ReadonlyMap<number, bigint>,
): Promise<void> {
  const stored = months.size > 0 ? await readMonths(database, version) : new Map<number, bigint>();
  const sums = [...months].map(([month, gross]) => ({
    month,
    gross: (stored.get(month) ?? 0n) + gross,
  }));
  await writeMonths(database, version, sums);
}

/** The gross per month (202611) of a version, in cents. */
export async function readMonths(
  database: Knex.Transaction,
  version: Version,
): Promise<Map<number, bigint>> {
  const rows = await rowsOf(database, TABLES.months, version);
  return new Map(rows.map(({ month, gross }) => [month, parseCents(gross)]));
}

/** The rows of totals, in batches, with their columns in the order of the INSERT. */
function* batchesOf(totals: TotalsByKey) {
  const rows = [...totals].map(([key, { gross, charges, started, ended }]) => {
    const [server_id = "", instance_id = ""] = key.split("/");
    return { server_id, instance_id, gross: formatCents(gross), charges, started, ended };
  });
  for (let start = 0; start < rows.length; start += BATCH) yield rows.slice(start, start + BATCH);
}
