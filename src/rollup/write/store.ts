/** Reading and writing the rollup's tables. */
import type { Knex } from "knex";
import { formatCents, parseCents } from "../../db/cents.ts";
import { TABLES } from "../tables.ts";
import { START } from "../timeline.ts";
import { grossOf, type TotalsByKey, toTotalsByKey } from "./totals-by-key.ts";

/** One generation of a provider's rollup: the current one, or one that is being built. */
export interface Version {
  readonly provider: string;
  readonly generation: string;
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

/** The rows of a version in one of the rollup's tables. */
export function rowsOf(database: Knex.Transaction, table: string, version: Version) {
  const { provider, generation } = version;
  return database(table).where({ provider_id: provider, generation });
}

/** A checkpoint, and the gross of everything dated before it, in cents. */
export interface Checkpoint {
  readonly at: string;
  readonly gross: bigint;
}

/** All checkpoints of versions, in ascending order, in the order of the versions. */
export async function readCheckpoints(
  database: Knex.Transaction,
  versions: readonly Version[],
): Promise<Checkpoint[][]> {
  if (versions.length === 0) return [];
  const rows = await database(TABLES.checkpoints)
    .where((query) => {
      for (const { provider, generation } of versions) {
        query.orWhere({ provider_id: provider, generation });
      }
    })
    .orderBy(["provider_id", "generation", "at"])
    .select("provider_id", "at", "gross");
  const byProvider = Map.groupBy(rows, ({ provider_id }) => String(provider_id));
  return versions.map(({ provider }) =>
    (byProvider.get(provider) ?? []).map(({ at, gross }) => ({ at, gross: parseCents(gross) })),
  );
}

/** A checkpoint of a version. */
export interface VersionAt extends Version {
  readonly at: string;
}

/** The totals at several checkpoints, in the order of the checkpoints. */
export async function readTotalsAt(
  database: Knex.Transaction,
  checkpoints: readonly VersionAt[],
): Promise<TotalsByKey[]> {
  if (checkpoints.length === 0) return [];
  // Row by row: with `IN` for rows, MySQL compares ids as floating-point numbers.
  const rows = await database(TABLES.totals).where((query) => {
    for (const { provider, generation, at } of checkpoints) {
      query.orWhere({ provider_id: provider, generation, at });
    }
  });
  const byCheckpoint = Map.groupBy(rows, ({ provider_id, at }) => `${provider_id} ${at}`);
  return checkpoints.map(({ provider, at }) =>
    toTotalsByKey(byCheckpoint.get(`${provider} ${at}`) ?? []),
  );
}

/** The totals at a checkpoint; none at `START`. */
export async function readTotals(
  database: Knex.Transaction,
  version: Version,
  at: string,
): Promise<TotalsByKey> {
  if (at === START) return new Map();
  const [totals = new Map()] = await readTotalsAt(database, [{ ...version, at }]);
  return totals;
}

/** The number of rows in one INSERT. */
const BATCH = 500;

/** The totals at a checkpoint of a version, or a change of them. */
export interface TotalsAt extends VersionAt {
  readonly totals: TotalsByKey;
}

/** Inserts a checkpoint with its totals. */
export async function insertCheckpoint(database: Knex.Transaction, added: TotalsAt): Promise<void> {
  const { provider, generation, at, totals } = added;
  const checkpoint = { provider_id: provider, generation, at };
  // There are rows already only if somebody deleted the checkpoint by hand.
  await database(TABLES.totals).where(checkpoint).del();
  await database(TABLES.checkpoints).insert({ ...checkpoint, gross: formatCents(grossOf(totals)) });
  for (const batch of inBatches(rowsOfTotals([added]))) await database(TABLES.totals).insert(batch);
}

/** Adds each change to the totals at its checkpoint and at every later one of the version. */
export async function addFrom(
  database: Knex.Transaction,
  changes: readonly TotalsAt[],
): Promise<void> {
  for (const batch of inBatches(rowsOfTotals(changes))) {
    // Typed, so that the join compares ids as integers and instants as times.
    const row =
      "CAST(? AS UNSIGNED), CAST(? AS UNSIGNED), CAST(? AS DATETIME(3)), ?, ?, ?, ?, ?, ?";
    const names = row.split(", ").map((value, nth) => `${value} AS ${TOTALS_COLUMNS[nth]}`);
    const selects = batch.map((_, nth) => `SELECT ${nth === 0 ? names.join(", ") : row}`);
    const providers = [...new Set(batch.map(({ provider_id }) => provider_id))];
    const generations = [...new Set(batch.map(({ generation }) => generation))];
    const first = batch.map(({ at }) => at).sort()[0] ?? "";
    const marks = (values: readonly string[]) => values.map(() => "?").join(", ");
    await database.raw(
      `INSERT INTO ${TABLES.totals} (${TOTALS_COLUMNS.join(", ")})
       SELECT checkpoint.provider_id, checkpoint.generation, checkpoint.at,
              added.server_id, added.instance_id,
              added.gross, added.charges, added.started, added.ended
       FROM ${TABLES.checkpoints} AS checkpoint STRAIGHT_JOIN (${selects.join(" UNION ALL ")}) AS added
         ON added.provider_id = checkpoint.provider_id AND added.generation = checkpoint.generation
           AND added.at <= checkpoint.at
       WHERE checkpoint.provider_id IN (${marks(providers)})
         AND checkpoint.generation IN (${marks(generations)}) AND checkpoint.at >= ?
       ON DUPLICATE KEY UPDATE
         gross = ${TABLES.totals}.gross + VALUES(gross),
         charges = ${TABLES.totals}.charges + VALUES(charges),
         started = ${TABLES.totals}.started + VALUES(started),
         ended = ${TABLES.totals}.ended + VALUES(ended)`,
      [...batch.flatMap((row) => Object.values(row)), ...providers, ...generations, first],
    );
  }
}

/** Sets the gross of checkpoints, in cents. */
export async function setGross(
  database: Knex.Transaction,
  checkpoints: readonly (VersionAt & Checkpoint)[],
): Promise<void> {
  const rows = checkpoints.map(({ provider, generation, at, gross }) => {
    return { provider_id: provider, generation, at, gross: formatCents(gross) };
  });
  for (const batch of inBatches(rows)) {
    await database(TABLES.checkpoints)
      .insert(batch)
      .onConflict(["provider_id", "generation", "at"])
      .merge(["gross"]);
  }
}

/** The gross of a month (202611) of a version, in cents, or a change of it. */
export interface MonthOf extends Version {
  readonly month: number;
  readonly gross: bigint;
}

/** Adds to the gross of months. */
export async function addToMonths(
  database: Knex.Transaction,
  months: readonly MonthOf[],
): Promise<void> {
  for (const batch of inBatches(months)) {
    await database.raw(
      `INSERT INTO ${TABLES.months} (provider_id, generation, month, gross)
       VALUES ${batch.map(() => "(?, ?, ?, ?)").join(", ")}
       ON DUPLICATE KEY UPDATE gross = ${TABLES.months}.gross + VALUES(gross)`,
      batch.flatMap(({ provider, generation, month, gross }) => [
        ...[provider, generation, month, formatCents(gross)],
      ]),
    );
  }
}

/** The gross per month (202611) of a version, in cents. */
export async function readMonths(
  database: Knex.Transaction,
  version: Version,
): Promise<Map<number, bigint>> {
  const rows = await rowsOf(database, TABLES.months, version);
  return new Map(rows.map(({ month, gross }) => [month, parseCents(gross)]));
}

/** The columns of the totals, in the order of `rowsOfTotals`. */
const TOTALS_COLUMNS = [
  ...["provider_id", "generation", "at", "server_id", "instance_id"],
  ...["gross", "charges", "started", "ended"],
];

function rowsOfTotals(all: readonly TotalsAt[]) {
  return all.flatMap(({ provider, generation, at, totals }) =>
    [...totals].map(([key, { gross, charges, started, ended }]) => {
      const [server_id = "", instance_id = ""] = key.split("/");
      const checkpoint = { provider_id: provider, generation, at, server_id, instance_id };
      return { ...checkpoint, gross: formatCents(gross), charges, started, ended };
    }),
  );
}

/** Divides rows for INSERTs. */
export function* inBatches<Row>(rows: readonly Row[]) {
  for (let start = 0; start < rows.length; start += BATCH) yield rows.slice(start, start + BATCH);
}
