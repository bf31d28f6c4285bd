/** Where on the timeline rows lie that became covered since an earlier watermark. */
import type { Knex } from "knex";
import { parseCents } from "../../../db/cents.ts";
import { fromDatetime, toDatetime } from "../../../db/datetime.ts";
import {
  COVERED_BY,
  DATED_BY,
  type LedgerTable,
  type RollupState,
  rentalHeld,
} from "../../coverage.ts";
import { monthOf, type Span } from "../../timeline.ts";
import { type Branch, readBranches } from "./branches.ts";

/** Spans of the timeline, by the table whose rows became covered in them. */
export interface ChangedSpans extends Readonly<Record<LedgerTable, readonly Span[]>> {
  /** The gross of the charges that became covered, in cents, by month (202611). */
  readonly months: ReadonlyMap<number, bigint>;
}

interface ChangedSpan extends Span {
  readonly provider: string;
  readonly table: LedgerTable;
  /** Of the charges that became covered since the earlier watermark; NULL for other spans. */
  readonly gross: string | null;
}

/**
 * How far before the earlier watermark to look for rows, in ms: a transaction that was open for
 * longer than the margin commits rows whose recording time the watermark has already passed.
 */
const LOOKBACK = 3_600_000;
/**
 * The maximum number of spans, and of rentals, to look back at for each condition. An UPDATE of many
 * ended rentals would otherwise be looked at by every run of the hour. The check finds what is left
 * out.
 */
const [MAX_LATE_SPANS, MAX_LATE_RENTALS] = [100, 10_000];

/** What is asked of a provider. */
export interface Since extends RollupState {
  readonly provider: string;
}

/**
 * For each of several rollups, the spans that contain every row which is covered at the watermark
 * `until` but was not in the earlier state: one span for each minute that has such a row. May
 * contain other rows too.
 */
export async function changedSpans(
  reader: Knex.Transaction,
  rollups: readonly Since[],
  until: string,
): Promise<ChangedSpans[]> {
  const find = (among: readonly Since[], spansOf: (rollup: Since) => Branch[]) =>
    readBranches<ChangedSpan>(reader, among.flatMap(spansOf));
  // Most news are charges: where rentals lie is asked only if there is one.
  const [started = ""] = DATED_BY.rentals;
  const probed = await find(rollups, (rollup) => [
    ...branchesOf(rollup, until, "charges", DATED_BY.charges, false),
    ...branchesOf(rollup, until, "rentals", [started], true),
  ]);
  const found = Map.groupBy(probed, ({ provider, table }) => `${table} ${provider}`);
  const withRentals = rollups.filter(({ provider }) => found.has(`rentals ${provider}`));
  const spans = await find(withRentals, (rollup) =>
    branchesOf(rollup, until, "rentals", DATED_BY.rentals, false),
  );
  const rentalSpans = Map.groupBy(spans, ({ provider }) => String(provider));
  return rollups.map(({ provider }) => {
    const charges = found.get(`charges ${provider}`) ?? [];
    const months = new Map<number, bigint>();
    for (const { from, gross } of charges) {
      if (gross === null) continue;
      months.set(monthOf(from), (months.get(monthOf(from)) ?? 0n) + parseCents(gross));
    }
    return { charges, rentals: rentalSpans.get(provider) ?? [], months };
  });
}

/** SELECTs of the spans of a table by some of its times, or of one row each to probe for any. */
function branchesOf(
  { provider, generation, watermark: since }: Since,
  until: string,
  table: LedgerTable,
  datedBy: readonly string[],
  isProbe: boolean,
): Branch[] {
  const lookback = toDatetime(Math.max(0, fromDatetime(since) - LOOKBACK));
  const windows = [
    { from: since, to: until, isLate: false },
    { from: lookback, to: since, isLate: true },
  ];
  /** What follows FROM. Rentals that are held became covered earlier. */
  const sourceOf = (coveredBy: string, isLate: boolean) => {
    const rows = `${table} WHERE provider_id = ? AND ${coveredBy} > ? AND ${coveredBy} <= ?`;
    if (table === "charges") return rows;
    const ended = `${rows} AND ended_at IS NOT NULL`;
    const latest = `(SELECT * FROM ${ended} ORDER BY ${coveredBy} DESC LIMIT ${MAX_LATE_RENTALS})`;
    const isNew = `NOT ${rentalHeld(generation)}`;
    return isLate ? `${latest} AS rentals WHERE ${isNew}` : `${ended} AND ${isNew}`;
  };
  return windows.flatMap(({ from, to, isLate }) =>
    COVERED_BY[table].flatMap((coveredBy) =>
      datedBy.map((column) => ({
        sql: `(SELECT ? AS provider, '${table}' AS \`table\`,
                 ${isProbe ? column : `MIN(${column})`} AS \`from\`,
                 ${isProbe ? column : `MAX(${column})`} AS \`to\`,
                 ${table === "charges" && !isLate ? "SUM(gross)" : "NULL"} AS gross
          FROM ${sourceOf(coveredBy, isLate)}
          ${isProbe ? "LIMIT 1" : `GROUP BY DATE_FORMAT(${column}, '%Y%m%d%H%i')`}
          ${isLate && !isProbe ? `LIMIT ${MAX_LATE_SPANS}` : ""})`,
        bindings: [provider, provider, from, to],
      })),
    ),
  );
}
