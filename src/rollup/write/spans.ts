/** Where on the timeline rows lie that a run has to look at. */
import type { Knex } from "knex";
import {
  EARLIEST,
  FIRST_INSTANT,
  fromDatetime,
  LAST_INSTANT,
  toDatetime,
} from "../../db/datetime.ts";
import { RENTAL_RAN } from "../coverage.ts";
import { justBefore, type Leaf, leafAt, leavesOf, type Span } from "../leaves.ts";
import type { Boundaries } from "./boundaries.ts";
import { MAX_CHANGED_LEAVES } from "./change.ts";
import type { Compared } from "./comparison.ts";
import { byLeaf, ownersOf } from "./ledger.ts";
import type { Rollup } from "./state.ts";

/**
 * How far before the earlier watermark a refresh looks for rows, in ms: a transaction that was open for
 * longer than the margin commits rows whose recording time the watermark has already passed.
 */
const LOOKBACK = 3_600_000;
/** How many rows of a table it looks back at, the latest ones. */
const MAX_LOOKED_AT = 2_000;

/** A row of a span: a minute, an hour or a day that has rows, of one table and column. */
interface SpanRow extends Span {
  readonly late: string | number;
}

/** The spans of rows, one for each minute, hour or day that has any. */
export interface NewSpans {
  /** With every row that became covered. May have other rows too. */
  readonly covered: readonly Span[];
  /** With rows that were recorded shortly before the earlier watermark, the latest first. */
  readonly late: readonly Span[];
}

/** The index on a column. The server would take one that holds all columns, and read it from end to end. */
const KEYS = {
  charged_at: "PRIMARY",
  recorded_at: "charges_by_recording",
  started_at: "PRIMARY",
  ended_at: "rentals_by_end",
  updated_at: "rentals_by_update",
} as const;

/** A range of a column. */
interface Range {
  readonly after: string;
  readonly upTo: string;
}
/** What a refresh moves over. */
const NEW: Range = { after: ":since", upTo: ":until" };
/** What it looks back at. */
const LATE: Range = { after: ":lookback", upTo: ":since" };

/** The spans of what becomes covered when a rollup's watermark moves to `until`. */
export async function newSpans(
  reader: Knex.Transaction,
  rollup: Rollup,
  until: string,
): Promise<NewSpans> {
  const { provider, watermark } = rollup;
  const lookback = toDatetime(Math.max(EARLIEST, fromDatetime(watermark) - LOOKBACK));
  const values = { provider, since: watermark, until, lookback };
  /** Where rows are dated whose column `by` lies in a range, and that match a condition. */
  const spansOf = (
    table: string,
    dated: keyof typeof KEYS,
    by: keyof typeof KEYS,
    range: Range,
    condition: string,
  ) => {
    const isLate = range === LATE;
    return `(SELECT ${Number(isLate)} AS late, MIN(at) AS \`from\`, MAX(at) AS \`to\`, MAX(written) AS written
      FROM (SELECT ${dated} AS at, ${by} AS written FROM ${table} FORCE INDEX (${KEYS[by]})
        WHERE provider_id = :provider AND ${by} > ${range.after} AND ${by} <= ${range.upTo} AND ${condition}
        ${isLate ? `ORDER BY ${by} DESC LIMIT ${MAX_LOOKED_AT}` : ""}) AS dated
      GROUP BY ${byLeaf("at", rollup.leaf)})`;
  };
  const charges = [
    spansOf("charges", "charged_at", "recorded_at", NEW, "charged_at <= :until"),
    spansOf("charges", "charged_at", "charged_at", NEW, "recorded_at <= :since"),
    spansOf("charges", "charged_at", "recorded_at", LATE, "charged_at <= :since"),
  ];
  const rentals = (["started_at", "ended_at"] as const).flatMap((dated) => [
    spansOf("rentals", dated, "updated_at", NEW, `ended_at <= :until AND ${RENTAL_RAN}`),
    spansOf("rentals", dated, "ended_at", NEW, `updated_at <= :since AND ${RENTAL_RAN}`),
    spansOf("rentals", dated, "updated_at", LATE, `ended_at <= :since AND ${RENTAL_RAN}`),
  ]);
  const [rows] = await reader.raw(
    `SELECT * FROM (${[...charges, ...rentals].join(" UNION ALL ")}) AS spans ORDER BY written DESC, \`from\`, \`to\``,
    values,
  );
  const isLate = ({ late }: SpanRow) => Number(late) === 1;
  return { covered: rows.filter((row: SpanRow) => !isLate(row)), late: rows.filter(isLate) };
}

/** Consecutive leaves of a rollup. */
export interface Slice {
  /** Those that have a row in the ledger or a stored boundary, and all from the first to the next slice. */
  readonly compared: Compared;
  /** Where the next slice begins; `LAST_INSTANT` if this is the last one. */
  readonly next: string;
}

/**
 * The maximum numbers of leaves in a slice, as many as a change may have, and of the rows of their
 * boundaries if it has several.
 */
const [MAX_SLICE_LEAVES, MAX_SLICE_ROWS] = [MAX_CHANGED_LEAVES, 100_000];

/**
 * The leaves of a rollup from an event time on that have about `rows` charges, starts and ends of
 * rentals; at least one.
 */
export async function nextSlice(
  reader: Knex.Transaction,
  rollup: Rollup,
  boundaries: Boundaries,
  from: string,
  rows: number,
): Promise<Slice> {
  const { provider, watermark, leaf } = rollup;
  const source = ({ table, column }: (typeof DATED)[number]) =>
    `FROM ${table} FORCE INDEX (${KEYS[column]})
      WHERE provider_id = :provider AND ${column} <= :watermark
      ${from === FIRST_INSTANT ? "" : `AND ${column} >= :from`}`;
  const ends = DATED.map(
    (dated) =>
      `(SELECT ${dated.column} ${source(dated)} ORDER BY ${dated.column} LIMIT 1 OFFSET ${rows})`,
  );
  const [[{ last }]] = await reader.raw(
    `SELECT LEAST(${ends.map((end) => `COALESCE(${end}, '${LAST_INSTANT}')`).join(", ")}) AS last`,
    { provider, from, watermark },
  );
  // A leaf may have more rows than that, for example all at one instant.
  const until = leafAt(last, leaf).to;
  const [found] = await reader.raw(
    DATED.map(
      (dated) =>
        `(SELECT MIN(${dated.column}) AS \`from\`, MAX(${dated.column}) AS \`to\`
          ${source(dated)} AND ${dated.column} <= :until GROUP BY ${byLeaf(dated.column, leaf)})`,
    ).join(" UNION ALL "),
    { provider, from, until, watermark },
  );
  const stored = boundaries.stored.filter((at) => at > from).map(justBefore);
  const inOrder = leavesOf([...found, ...stored], leaf);
  const whole = inOrder.filter(({ to }) => to > from && to <= last);
  const width = Math.max(await ownersOf(reader, provider), boundaries.width);
  const most = Math.min(MAX_SLICE_LEAVES, Math.max(1, Math.floor(MAX_SLICE_ROWS / width)));
  const some = whole.length > 0 ? whole.slice(0, most) : inOrder.slice(0, 1);
  // So that no slice ends within a quarter of an hour.
  const leaves = leavesOf(some.map(lastInstantOf), leaf);
  const isLast = last === LAST_INSTANT && whole.length <= most;
  const next = isLast ? LAST_INSTANT : (leaves.at(-1)?.to ?? LAST_INSTANT);
  return { compared: { leaves, stretches: [{ from, to: next }] }, next };
}

/** The last instant of a leaf, as a span. */
export const lastInstantOf = ({ to }: Leaf): Span => justBefore(to);

/** The columns that place rows on the timeline. */
const DATED = [
  { table: "charges", column: "charged_at" },
  { table: "rentals", column: "started_at" },
  { table: "rentals", column: "ended_at" },
] as const;
