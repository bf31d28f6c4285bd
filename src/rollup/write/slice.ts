/** The next part of a rollup that a build adds, or a check compares. */
import type { Knex } from "knex";
import { FIRST_INSTANT, LAST_INSTANT } from "../../db/datetime.ts";
import { byStretch, justBefore, stretchAt, stretchesOf } from "../stretches.ts";
import { MAX_CHANGED_LEAVES } from "./change.ts";
import type { Compared } from "./comparison.ts";
import { KEYS, ownersOf } from "./ledger.ts";
import type { Rollup } from "./state.ts";

/**
 * The maximum numbers of leaves in a slice, as many as a change may have, and of the rows of their
 * boundaries if it has several.
 */
const [MAX_SLICE_LEAVES, MAX_SLICE_ROWS] = [MAX_CHANGED_LEAVES, 100_000];

/**
 * Consecutive leaves of a rollup from an event time on, at least one, that have about `rows` charges, starts and ends of
 * rentals: those that have a row in the ledger or a stored boundary, in the stretch up to where the next slice begins;
 * `LAST_INSTANT` if this is the last one.
 */
export async function nextSlice(
  reader: Knex.Transaction,
  rollup: Rollup,
  boundaries: readonly string[],
  from: string,
  rows: number,
): Promise<{ readonly compared: Compared; readonly next: string }> {
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
  const until = stretchAt(last, leaf).to;
  const [found] = await reader.raw(
    DATED.map(
      (dated) =>
        `(SELECT MIN(${dated.column}) AS at
          ${source(dated)} AND ${dated.column} <= :until GROUP BY ${byStretch(dated.column, leaf)})`,
    ).join(" UNION ALL "),
    { provider, from, until, watermark },
  );
  const stored = boundaries.filter((at) => at > from).map(justBefore);
  const instants = found.map(({ at }: { readonly at: string }) => at);
  const inOrder = stretchesOf([...instants, ...stored], leaf);
  const whole = inOrder.filter(({ to }) => to > from && to <= last);
  const owners = Math.max(1, await ownersOf(reader, provider));
  const most = Math.min(MAX_SLICE_LEAVES, Math.max(1, Math.floor(MAX_SLICE_ROWS / owners)));
  const some = whole.length > 0 ? whole.slice(0, most) : inOrder.slice(0, 1);
  // So that no slice ends within an hour.
  const leaves = stretchesOf(
    some.map(({ to }) => justBefore(to)),
    leaf,
  );
  const isLast = last === LAST_INSTANT && whole.length <= most;
  const next = isLast ? LAST_INSTANT : (leaves.at(-1)?.to ?? LAST_INSTANT);
  return { compared: { leaves, stretches: [{ from, to: next }] }, next };
}

/** The columns that place rows on the timeline. */
const DATED = [
  { table: "charges", column: "charged_at" },
  { table: "rentals", column: "started_at" },
  { table: "rentals", column: "ended_at" },
] as const;
