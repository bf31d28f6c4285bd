/** The rollup's tables: what is in them, and how it is put there. */
import type { Knex } from "knex";
import { formatCents, parseCents } from "../../db/cents.ts";
import { END, monthBefore, START } from "../timeline.ts";
import { grossOf, type Totals, type TotalsByKey } from "./totals-by-key.ts";

/** One version of a provider's rollup; a new one is built beside the one that is read. */
export interface Version {
  readonly provider: string;
  readonly generation: number;
}

/** A row of `rollups`. */
export interface RollupState {
  /** 0 before the first one is built. */
  readonly generation: number;
  readonly watermark: string;
  readonly buildGeneration: number | null;
  readonly buildWatermark: string | null;
}

/** An instant, and what was charged before it, in cents. */
export interface Checkpoint {
  readonly at: string;
  readonly gross: bigint;
}

/** The state of a provider's rollup; `undefined` where it has none. With `lock`, for this transaction alone. */
export async function readState(
  database: Knex.Transaction,
  provider: string,
  lock = false,
): Promise<RollupState | undefined> {
  const query = database("rollups").where({ provider_id: provider });
  if (lock) query.forUpdate();
  const row = await query.first();
  return (
    row && {
      generation: row.generation,
      watermark: row.cut,
      buildGeneration: row.build_generation,
      buildWatermark: row.build_cut,
    }
  );
}

/** All checkpoints of a version, in order. */
export async function readCheckpoints(
  database: Knex.Transaction,
  { provider, generation }: Version,
): Promise<Checkpoint[]> {
  const rows = await database("rollup_checkpoints")
    .where({ provider_id: provider, generation })
    .orderBy("at")
    .select("at", "gross");
  return rows.map(({ at, gross }) => ({ at, gross: parseCents(gross) }));
}

/** The figures at a checkpoint; none at the start of time. */
export async function readTotals(
  database: Knex.Transaction,
  { provider, generation }: Version,
  at: string,
): Promise<TotalsByKey> {
  if (at === START) return new Map();
  const rows = await database("rollup_figures").where({ provider_id: provider, generation, at });
  return new Map(
    rows.map((row): [string, Totals] => [
      `${row.server_id}/${row.instance_id}`,
      {
        gross: parseCents(row.gross),
        charges: Number(row.charges),
        started: Number(row.started),
        ended: Number(row.ended),
      },
    ]),
  );
}

/** How many rows go into one INSERT. */
const BATCH = 500;

/** Writes a new checkpoint. */
export async function insertCheckpoint(
  database: Knex.Transaction,
  { provider, generation }: Version,
  at: string,
  totals: TotalsByKey,
): Promise<void> {
  await database("rollup_checkpoints").insert({
    provider_id: provider,
    generation,
    at,
    gross: formatCents(grossOf(totals)),
  });
  for (const entries of batches([...totals])) {
    await database.raw(
      `INSERT INTO rollup_figures
         (provider_id, generation, at, server_id, instance_id, gross, charges, started, ended)
       VALUES ${entries.map(() => "(?, ?, ?, ?, ?, ?, ?, ?, ?)").join(", ")}`,
      entries.flatMap((entry) => [provider, generation, at, ...columns(entry)]),
    );
  }
}

/** Adds a change to the figures at a checkpoint and at every later one. */
export async function addFrom(
  database: Knex.Transaction,
  { provider, generation }: Version,
  at: string,
  change: TotalsByKey,
): Promise<void> {
  for (const entries of batches([...change])) {
    const parts = entries.map((_, index) =>
      index === 0
        ? "SELECT ? AS server, ? AS instance, ? AS gross, ? AS charges, ? AS started, ? AS ended"
        : "SELECT ?, ?, ?, ?, ?, ?",
    );
    await database.raw(
      `INSERT INTO rollup_figures
         (provider_id, generation, at, server_id, instance_id, gross, charges, started, ended)
       SELECT checkpoint.provider_id, checkpoint.generation, checkpoint.at,
              part.server, part.instance, part.gross, part.charges, part.started, part.ended
       FROM rollup_checkpoints AS checkpoint CROSS JOIN (${parts.join(" UNION ALL ")}) AS part
       WHERE checkpoint.provider_id = ? AND checkpoint.generation = ? AND checkpoint.at >= ?
       ON DUPLICATE KEY UPDATE
         gross = rollup_figures.gross + VALUES(gross),
         charges = rollup_figures.charges + VALUES(charges),
         started = rollup_figures.started + VALUES(started),
         ended = rollup_figures.ended + VALUES(ended)`,
      [...entries.flatMap(columns), provider, generation, at],
    );
  }
  await database("rollup_checkpoints")
    .where({ provider_id: provider, generation })
    .andWhere("at", ">=", at)
    .update({
      gross: database.raw("gross + CAST(? AS DECIMAL(20, 2))", [formatCents(grossOf(change))]),
    });
}

/** Brings the sums per month in line with the checkpoints, which stand at the end of each month. */
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
  const known = await readMonths(database, version);
  for (const [month, gross] of months) {
    if (known.get(month) === gross) continue;
    await database("rollup_months")
      .insert({ provider_id: provider, generation, month, gross: formatCents(gross) })
      .onConflict()
      .merge(["gross"]);
  }
}

/** The sums per month of a version, in cents, by month (202611). */
export async function readMonths(
  database: Knex.Transaction,
  { provider, generation }: Version,
): Promise<Map<number, bigint>> {
  const rows = await database("rollup_months").where({ provider_id: provider, generation });
  return new Map(rows.map((row) => [row.month, parseCents(row.gross)]));
}

function columns([key, { gross, charges, started, ended }]: [string, Totals]): string[] {
  const [server = "", instance = ""] = key.split("/");
  return [server, instance, formatCents(gross), String(charges), String(started), String(ended)];
}

function batches<T>(items: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < items.length; start += BATCH) {
    parts.push(items.slice(start, start + BATCH));
  }
  return parts;
}
