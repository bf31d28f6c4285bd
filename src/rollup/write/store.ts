/** Reading and writing the rollup's tables. */
import type { Knex } from "knex";
import { formatCents, parseCents } from "../../db/cents.ts";
import { NO_GENERATION, type RollupState } from "../coverage.ts";
import { TABLES } from "../tables.ts";
import { START } from "../timeline.ts";
import { grossOf, type TotalsByKey, toTotalsByKey } from "./totals-by-key.ts";

/** One generation of a provider's rollup: the current one, or one that is being built. */
export interface Version {
  readonly provider: string;
  readonly generation: string;
}

/** The state of a provider's rollup. */
export interface State extends RollupState {
  /** Increases with every write to the totals of the current generation. */
  readonly revision: number;
  /** Event time from which the next slice of the check begins. */
  readonly checkFrom: string;
  /** When the next slice of the check is due, by the database's clock. */
  readonly checkAt: string;
  /** The build in progress. */
  readonly build: RollupState | undefined;
  /** The database's clock when the state was read; "" if the provider has no row. */
  readonly now: string;
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
  const query = database(TABLES.state)
    .select("*", database.raw("UTC_TIMESTAMP(3) AS now"))
    .where({ provider_id: provider });
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
    now: row?.now ?? "",
  };
}

/**
 * Sets columns of the state, with `revision` as an SQL expression, if it is still the one that was
 * read. Resolves to false if it is not. Locks the row, so it comes first in its transaction.
 */
export async function replaceState(
  transaction: Knex.Transaction,
  provider: string,
  { generation, watermark, revision }: State,
  columns: Readonly<Record<string, string | number>>,
): Promise<boolean> {
  const found = await transaction(TABLES.state)
    .where({ provider_id: provider, generation, cut: watermark, revision })
    .update(columns);
  return found > 0;
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

/** The totals at each of several checkpoints that has any. */
export async function readTotalsAt(
  database: Knex.Transaction,
  version: Version,
  instants: readonly string[],
): Promise<ReadonlyMap<string, TotalsByKey>> {
  const rows = await rowsOf(database, TABLES.totals, version).whereIn("at", [...instants]);
  const byInstant = Map.groupBy(rows, ({ at }): string => at);
  return new Map([...byInstant].map(([at, found]) => [at, toTotalsByKey(found)]));
}

/** The totals at a checkpoint; none at `START`. */
export async function readTotals(
  database: Knex.Transaction,
  version: Version,
  at: string,
): Promise<TotalsByKey> {
  if (at === START) return new Map();
  return (await readTotalsAt(database, version, [at])).get(at) ?? new Map();
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

/** Adds to the gross of months (202611), in cents. */
export async function addToMonths(
  database: Knex.Transaction,
  { provider, generation }: Version,
  months: ReadonlyMap<number, bigint>,
): Promise<void> {
  if (months.size === 0) return;
  const rows = [...months].flatMap(([month, gross]) => [
    ...[provider, generation, month, formatCents(gross)],
  ]);
  await database.raw(
    `INSERT INTO ${TABLES.months} (provider_id, generation, month, gross)
     VALUES ${[...months].map(() => "(?, ?, ?, ?)").join(", ")}
     ON DUPLICATE KEY UPDATE gross = ${TABLES.months}.gross + VALUES(gross)`,
    rows,
  );
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
function batchesOf(totals: TotalsByKey) {
  const rows = [...totals].map(([key, { gross, charges, started, ended }]) => {
    const [server_id = "", instance_id = ""] = key.split("/");
    return { server_id, instance_id, gross: formatCents(gross), charges, started, ended };
  });
  return inBatches(rows);
}

/** Divides rows for INSERTs. */
export function* inBatches<Row>(rows: readonly Row[]) {
  for (let start = 0; start < rows.length; start += BATCH) yield rows.slice(start, start + BATCH);
}
