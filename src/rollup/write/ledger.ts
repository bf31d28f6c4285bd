/** What a rollup asks of the ledger: sums of a segment, and where to watermark it. */
import type { Knex } from "knex";
import { parseCents } from "../../db/cents.ts";
import { END, nextMonth } from "../timeline.ts";
import { plus, type TotalsByKey } from "./totals-by-key.ts";

/** A provider's part of the timeline: [from, to). */
export interface Segment {
  readonly provider: string;
  readonly from: string;
  readonly to: string;
}

type SumRow = { server: string; instance: string; gross: string; count: string };

/**
 * What the charges and the ended rentals of a segment come to, of those that were recorded
 * up to `watermark`. A rental that ended before it started never ran, and is not counted; one
 * whose end lies after the watermark has not ended, and may still be extended.
 */
export async function sumSegment(
  reader: Knex.Transaction,
  { provider, from, to }: Segment,
  watermark: string,
): Promise<TotalsByKey> {
  const within = (column: string) => `${column} >= ? AND ${column} ${to === END ? "<=" : "<"} ?`;
  const ask = async (select: string, where: string, ...watermarks: string[]): Promise<SumRow[]> => {
    const [rows] = await reader.raw(
      `SELECT server_id AS server, COALESCE(instance_id, 0) AS instance, ${select}
       FROM ${where} GROUP BY server_id, instance_id`,
      [provider, from, to, ...watermarks],
    );
    return rows;
  };
  const charges = await ask(
    "SUM(gross) AS gross, COUNT(*) AS count",
    `charges WHERE provider_id = ? AND ${within("charged_at")} AND recorded_at <= ?`,
    watermark,
  );
  const rentals = (column: string) =>
    ask(
      "0 AS gross, COUNT(*) AS count",
      `rentals WHERE provider_id = ? AND ${within(column)}
         AND ended_at >= started_at AND updated_at <= ? AND ended_at <= ?`,
      ...[watermark, watermark],
    );
  const started = await rentals("started_at");
  const ended = await rentals("ended_at");
  return [
    totals(charges, (row) => ({ gross: parseCents(row.gross), charges: Number(row.count) })),
    totals(started, (row) => ({ started: Number(row.count) })),
    totals(ended, (row) => ({ ended: Number(row.count) })),
  ].reduce(plus);
}

function totals(
  rows: readonly SumRow[],
  figures: (
    row: SumRow,
  ) => Partial<{ gross: bigint; charges: number; started: number; ended: number }>,
): TotalsByKey {
  return new Map(
    rows.map((row) => [
      `${row.server}/${row.instance}`,
      { gross: 0n, charges: 0, started: 0, ended: 0, ...figures(row) },
    ]),
  );
}

/** Where the months end that are summed: the last one there is has no checkpoint at its end. */
const END_OF_MONTHS = "9999-12-01 00:00:00.000";

/** A provider's gross per month (202611), in cents, of the charges recorded up to `watermark`. */
export async function sumMonths(
  reader: Knex.Transaction,
  provider: string,
  watermark: string,
): Promise<Map<number, bigint>> {
  const [rows] = await reader.raw(
    `SELECT EXTRACT(YEAR_MONTH FROM charged_at) AS month, SUM(gross) AS gross FROM charges
     WHERE provider_id = ? AND recorded_at <= ? AND charged_at < ? GROUP BY month`,
    [provider, watermark, END_OF_MONTHS],
  );
  return new Map(
    rows.map((row: { month: number; gross: string }) => [Number(row.month), parseCents(row.gross)]),
  );
}

/**
 * Where to put the next checkpoint in a segment, so that no more than `size` charges, starts
 * or ends of rentals lie before it, and its charges are of one month; `to` where there is
 * no need of one. Later than `from`, always.
 */
export async function nextBoundary(
  reader: Knex.Transaction,
  { provider, from, to }: Segment,
  size: number,
): Promise<string> {
  /** The instant that follows `size` events; more than that may share one instant. */
  const after = async (table: string, column: string): Promise<string | undefined> => {
    const at = await nth(
      reader,
      `${table} WHERE provider_id = ? AND ${column} >= ?`,
      column,
      [provider, from],
      size,
    );
    if (at === undefined || at > from) return at;
    return nth(
      reader,
      `${table} WHERE provider_id = ? AND ${column} > ?`,
      column,
      [provider, from],
      0,
    );
  };
  const first = await nth(
    reader,
    "charges WHERE provider_id = ? AND charged_at >= ?",
    "charged_at",
    [provider, from],
    0,
  );
  const candidates = [
    to,
    first === undefined ? undefined : nextMonth(first),
    await after("charges", "charged_at"),
    await after("rentals", "started_at"),
    await after("rentals", "ended_at"),
  ];
  return candidates.filter((at) => at !== undefined).sort()[0] ?? to;
}

async function nth(
  reader: Knex.Transaction,
  from: string,
  column: string,
  bindings: readonly string[],
  offset: number,
): Promise<string | undefined> {
  const [rows] = await reader.raw(
    `SELECT ${column} AS at FROM ${from} ORDER BY ${column} LIMIT 1 OFFSET ${offset}`,
    [...bindings],
  );
  return rows[0]?.at;
}

/** Two instants, both inside. */
export interface Span {
  readonly from: string;
  readonly to: string;
}

/**
 * Where on the timeline something lies that a rollup takes up when its watermark moves from `since` to
 * `until`: a span for each minute that anything is dated in. Charges and ended rentals
 * recorded meanwhile, and rentals that have ended meanwhile.
 */
export async function touchedSpans(
  reader: Knex.Transaction,
  provider: string,
  since: string,
  until: string,
): Promise<Span[]> {
  const spans = (table: string, column: string, moved: string) =>
    `(SELECT MIN(${column}) AS \`from\`, MAX(${column}) AS \`to\`
     FROM ${table}
     WHERE provider_id = ? AND ${moved} > ? AND ${moved} <= ?
       ${table === "rentals" ? "AND ended_at IS NOT NULL" : ""}
     GROUP BY DATE_FORMAT(${column}, '%Y%m%d%H%i'))`;
  const parts = [
    spans("charges", "charged_at", "recorded_at"),
    spans("rentals", "started_at", "updated_at"),
    spans("rentals", "ended_at", "updated_at"),
    spans("rentals", "started_at", "ended_at"),
    spans("rentals", "ended_at", "ended_at"),
  ];
  const [rows] = await reader.raw(
    parts.join(" UNION ALL "),
    parts.flatMap(() => [provider, since, until]),
  );
  return rows;
}
