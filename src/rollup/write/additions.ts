/** Adding differences to the stored sums of a rollup, in a transaction. */

import type { Knex } from "knex";
import { LAST_INSTANT } from "../../db/datetime.ts";
import { TABLES } from "../coverage.ts";
import { FORMAT, NO_SUMS, plus, SUM_NAMES, type Sums, textOf, typeOf } from "../sums.ts";
import type { Difference } from "./comparison.ts";
import { type Rollup, STORED } from "./state.ts";

/** A key of the owner that a difference is of. */
export const ownerOf = ({ server, instance }: Difference) => `${server} ${instance}`;

/** The number of stored boundaries whose sums a difference changes, and its own. */
export function laterThan({ leaf }: Difference, stored: readonly string[]): number {
  return stored.length - stored.findLastIndex((at) => at < leaf.to);
}

/**
 * Adds each difference to the boundary of its leaf and to all later ones, of its owner and of the provider as a whole.
 *
 * @param stored the boundaries that are stored from the first leaf on, and the last one before it
 */
export async function addDifferences(
  transaction: Knex.Transaction,
  rollup: Rollup,
  differences: readonly Difference[],
  stored: readonly string[],
): Promise<void> {
  const added = addedBoundaries(differences, stored);
  for (let start = 0; start < added.length; start += ROWS_PER_INSERT) {
    await copyBoundaries(transaction, rollup, added.slice(start, start + ROWS_PER_INSERT));
  }
  const empty = added.filter(({ before }) => before === undefined).map(({ at }) => at);
  const additions = [
    ...[...Map.groupBy(differences, ownerOf).values()].flatMap((some) => additionsOf(some)),
    ...additionsOf(wholeOf(differences), true),
  ].sort((left, right) => (left.from < right.from ? -1 : 1));
  for (let start = 0; start < additions.length; start += ROWS_PER_INSERT) {
    const some = additions.slice(start, start + ROWS_PER_INSERT);
    await addBetween(transaction, rollup, some, empty);
  }
}

/** A boundary that is not stored yet, and the last stored one before it. */
interface NewBoundary {
  readonly at: string;
  readonly before: string | undefined;
}

/** The boundaries that differences need, and that are not stored yet. */
function addedBoundaries(
  differences: readonly Difference[],
  stored: readonly string[],
): NewBoundary[] {
  const known = new Set(stored);
  let nth = 0;
  return [...new Set(differences.map(({ leaf }) => leaf.to))].sort().flatMap((at) => {
    while ((stored[nth] ?? LAST_INSTANT) < at) nth++;
    return known.has(at) ? [] : [{ at, before: stored[nth - 1] }];
  });
}

/** The number of new boundaries, or of additions, in one INSERT. */
const ROWS_PER_INSERT = 500;

/** The differences of the provider as a whole: in each leaf those of all owners, added up. */
function wholeOf(differences: readonly Difference[]): Difference[] {
  return [...Map.groupBy(differences, ({ leaf }) => leaf.to).values()].map((parts) => {
    const [{ leaf }] = parts as [Difference];
    return { ...parts.reduce<Sums>(plus, NO_SUMS), leaf, server: "0", instance: "0" };
  });
}

/** What is added to the sums of an owner at the boundaries from `from` on; before `until`, if there is one. */
interface Addition extends Sums, Pick<Difference, "server" | "instance"> {
  readonly total: boolean;
  readonly from: string;
  readonly until: string | null;
}

/** The additions of one owner: at each boundary, all differences up to there. So each row is written once. */
function additionsOf(differences: readonly Difference[], total = false): Addition[] {
  const inOrder = differences.toSorted((left, right) => (left.leaf.to < right.leaf.to ? -1 : 1));
  let sums = NO_SUMS;
  return inOrder.map((difference, nth) => {
    const { server, instance, leaf } = difference;
    sums = plus(sums, difference);
    const until = inOrder[nth + 1]?.leaf.to ?? null;
    return { total, server, instance, from: leaf.to, until, ...sums };
  });
}

/** The columns that a change writes. */
const STORED_COLUMNS = `provider_id, format, slot, total, at, server_id, instance_id, ${SUM_NAMES.join(", ")}`;

/** Stores boundaries, each with the sums of the one before. */
async function copyBoundaries(
  transaction: Knex.Transaction,
  { provider, slot }: Rollup,
  added: readonly NewBoundary[],
): Promise<void> {
  const copied = added.filter(({ before }) => before !== undefined);
  if (copied.length === 0) return;
  const copies = copied.map(
    () => "SELECT CAST(? AS DATETIME(3)) AS copy, CAST(? AS DATETIME(3)) AS original",
  );
  await transaction.raw(
    `INSERT INTO ${TABLES.sums} (${STORED_COLUMNS})
     SELECT provider_id, format, slot, total, copies.copy, server_id, instance_id, ${SUM_NAMES.join(", ")}
     FROM (${copies.join(" UNION ALL ")}) AS copies STRAIGHT_JOIN (SELECT 0 AS kind UNION ALL SELECT 1) AS kinds
     STRAIGHT_JOIN ${STORED} AND total = kinds.kind AND at = copies.original`,
    [...copied.flatMap(({ at, before = "" }) => [at, before]), provider, slot],
  );
}

/** SQL: adds to sums that are there already. */
const ADD = SUM_NAMES.map((name) => `${name} = ${TABLES.sums}.${name} + VALUES(${name})`).join(
  ", ",
);

/**
 * Writes additions, in the order of their first boundaries.
 *
 * @param empty boundaries that are new, and have no row yet
 */
async function addBetween(
  transaction: Knex.Transaction,
  { provider, slot }: Rollup,
  additions: readonly Addition[],
  empty: readonly string[],
): Promise<void> {
  const rows = additions.map((addition) => {
    const { from, until, total, server, instance } = addition;
    const sums = SUM_NAMES.map((name) => textOf(name, addition[name]));
    return [from, until, Number(total), server, instance, ...sums];
  });
  const typed = SUM_NAMES.map((name) => `CAST(? AS ${typeOf(name)}) AS ${name}`);
  const added = rows.map((_, nth) =>
    nth === 0
      ? `SELECT CAST(? AS DATETIME(3)) AS first, CAST(? AS DATETIME(3)) AS ends,
           CAST(? AS UNSIGNED) AS total, CAST(? AS UNSIGNED) AS server_id, CAST(? AS UNSIGNED) AS instance_id,
           ${typed.join(", ")}`
      : `SELECT ?, ?, ?, ?, ?, ${SUM_NAMES.map(() => "?").join(", ")}`,
  );
  const from = additions[0]?.from ?? LAST_INSTANT;
  const boundaries = [
    `SELECT at FROM (SELECT DISTINCT provider_id, format, slot, total, at
       FROM ${STORED} AND total = 0 AND at >= ?) AS known`,
    ...empty.map(() => "SELECT CAST(? AS DATETIME(3))"),
  ];
  await transaction.raw(
    `INSERT INTO ${TABLES.sums} (${STORED_COLUMNS})
     SELECT ?, ${FORMAT}, ?, added.total, boundaries.at, added.server_id, added.instance_id,
       ${SUM_NAMES.map((name) => `added.${name}`).join(", ")}
     FROM (${added.join(" UNION ALL ")}) AS added
     JOIN (${boundaries.join(" UNION ")}) AS boundaries
       ON boundaries.at >= added.first AND COALESCE(boundaries.at < added.ends, TRUE)
     ON DUPLICATE KEY UPDATE ${ADD}`,
    [provider, slot, ...rows.flat(), provider, slot, from, ...empty],
  );
}
