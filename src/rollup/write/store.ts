/** Reading and writing the rollup's tables. */
import type { Knex } from "knex";
import { formatCents, parseCents } from "../../db/cents.ts";
import type { RollupState } from "../coverage.ts";
import { TABLES } from "../tables.ts";
import { END, monthBefore, START } from "../timeline.ts";
import { grossOf, type Totals, type TotalsByKey, toTotalsByKey } from "./totals-by-key.ts";

/** One generation of a provider's rollup: the current one, or one that is being built. */
export interface Version {
  readonly provider: string;
  readonly generation: string;
}

/** The state of a provider's rollup. */
export interface StoredState extends RollupState {
  /** The build in progress; `undefined` if there is none. */
  readonly build: RollupState | undefined;
}

/** An instant, and the gross of everything dated before it, in cents. */
export interface Checkpoint {
  readonly at: string;
  readonly gross: bigint;
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

/** The state of a provider's rollup; `undefined` if it has no row. `lock` locks the row. */
export async function readState(
  database: Knex.Transaction,
  provider: string,
  lock = false,
): Promise<StoredState | undefined> {
  const query = database(TABLES.state).where({ provider_id: provider });
  if (lock) query.forUpdate();
  const row = await query.first();
  if (row === undefined) return undefined;
  const { generation, cut, build_generation, build_cut } = row;
  return {
    generation: String(generation),
    watermark: cut,
    build:
      build_generation === null
        ? undefined
        : { generation: String(build_generation), watermark: build_cut },
  };
}

/** All checkpoints of a version, in ascending order. */
export async function readCheckpoints(
  database: Knex.Transaction,
  { provider, generation }: Version,
): Promise<Checkpoint[]> {
  const rows = await database(TABLES.checkpoints)
    .where({ provider_id: provider, generation })
    .orderBy("at")
    .select("at", "gross");
  return rows.map(({ at, gross }) => ({ at, gross: parseCents(gross) }));
}

/** The totals at a checkpoint; none at `START`. */
export async function readTotals(
  database: Knex.Transaction,
  { provider, generation }: Version,
  at: string,
): Promise<TotalsByKey> {
  if (at === START) return new Map();
  return toTotalsByKey(
    await database(TABLES.totals).where({ provider_id: provider, generation, at }),
  );
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
  const version = { provider_id: provider, generation, at };
  await database(TABLES.checkpoints).insert({ ...version, gross: formatCents(grossOf(totals)) });
  for (const batch of batches([...totals].map(columnsOf))) {
    await database(TABLES.totals).insert(batch.map((row) => ({ ...version, ...row })));
  }
}

/** Adds a change to the totals at a checkpoint and at every later one. */
export async function addFrom(
  database: Knex.Transaction,
  { provider, generation }: Version,
  at: string,
  change: TotalsByKey,
): Promise<void> {
  for (const batch of batches([...change].map(columnsOf))) {
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
  await database(TABLES.checkpoints)
    .where({ provider_id: provider, generation })
    .andWhere("at", ">=", at)
    .update({
      gross: database.raw("gross + CAST(? AS DECIMAL(20, 2))", [formatCents(grossOf(change))]),
    });
}

/** Updates the gross per month from the checkpoints. There is one at the end of each month. */
export async function writeMonths(database: Knex.Transaction, version: Version): Promise<void> {
  const { provider, generation } = version;
  const months = new Map<number, bigint>();
  let before = 0n;
  for (const { at, gross } of await readCheckpoints(database, version)) {
    if (at !== END) {
      const month = monthBefore(at);
      months.set(month, (months.get(month) ?? 0n) + gross - before);
    }
    before = gross;
  }
  const stored = await readMonths(database, version);
  for (const [month, gross] of months) {
    if (stored.get(month) === gross) continue;
    await database(TABLES.months)
      .insert({ provider_id: provider, generation, month, gross: formatCents(gross) })
      .onConflict()
      .merge(["gross"]);
  }
}

/** The gross per month (202611) of a version, in cents. */
export async function readMonths(
  database: Knex.Transaction,
  { provider, generation }: Version,
): Promise<Map<number, bigint>> {
  const rows = await database(TABLES.months).where({ provider_id: provider, generation });
  return new Map(rows.map(({ month, gross }) => [month, parseCents(gross)]));
}

/** The columns of a row of totals, in the order of the INSERT. */
function columnsOf([key, { gross, charges, started, ended }]: [string, Totals]) {
  const [server_id = "", instance_id = ""] = key.split("/");
  return {
    server_id,
    instance_id,
    gross: formatCents(gross),
    charges: String(charges),
    started: String(started),
    ended: String(ended),
  };
}

function* batches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += BATCH) {
    yield items.slice(start, start + BATCH);
  }
}
