/** Adding differences to the stored sums of a rollup, in a transaction. */

import type { Knex } from "knex";
import { LAST_INSTANT } from "../../db/datetime.ts";
import { TABLES } from "../coverage.ts";
import { boundariesOfTotal } from "../leaves.ts";
import { FORMAT, isZero, NO_SUMS, plus, SUM_NAMES, type Sums, textOf, typeOf } from "../sums.ts";
import type { Stored } from "./boundaries.ts";
import type { Difference } from "./comparison.ts";
import { OF_ROLLUP, type Rollup, STORED } from "./state.ts";

/** A key of the owner that a difference is of; of the provider as a whole it is another one. */
export const ownerOf = ({ total, server, instance }: Difference) =>
  `${total} ${server} ${instance}`;

/** The number of stored boundaries whose sums a difference changes, and its own. */
export function laterThan({ total, leaf }: Difference, { owners, totals, later }: Stored): number {
  const stored = total ? totals : owners;
  return (total ? later : 0) + stored.length - stored.findLastIndex((at) => at < leaf.to);
}

/** Adds each difference to the boundary of its leaf and to all later ones. */
export async function addDifferences(
  transaction: Knex.Transaction,
  rollup: Rollup,
  found: readonly Difference[],
  boundaries: Stored,
): Promise<void> {
  const differences = found.filter((difference) => !isZero(difference));
  const added = addedBoundaries(differences, rollup, boundaries);
  for (let start = 0; start < added.length; start += ROWS_PER_INSERT) {
    await copyBoundaries(transaction, rollup, added.slice(start, start + ROWS_PER_INSERT));
  }
  const empty = added.filter(({ before }) => before === undefined);
  const additions = [...Map.groupBy(differences, ownerOf).values()]
    .flatMap(additionsOf)
    .sort((left, right) => (left.from < right.from ? -1 : 1));
  const ofOwners = additions.filter(({ total }) => !total);
  const known = empty.filter(({ total }) => !total).map(({ at }) => at);
  for (let start = 0; start < ofOwners.length; start += ROWS_PER_INSERT) {
    const some = ofOwners.slice(start, start + ROWS_PER_INSERT);
    await addBetween(transaction, rollup, some, known);
  }
  const ofTotal = additions.filter(({ total }) => total);
  const newOnes = added.filter(({ total }) => total).map(({ at }) => at);
  const all = [...boundaries.totals, ...newOnes].sort();
  const first = boundaries.totals[0] ?? LAST_INSTANT;
  await addToTotal(transaction, rollup, ofTotal, { all, first, to: boundaries.to });
}

/** The boundaries that differences need, and that are not stored yet. */
export function addedBoundaries(
  differences: readonly Difference[],
  { totalLeaf }: Rollup,
  { owners, totals }: Stored,
): NewBoundary[] {
  const leavesOf = (wanted: boolean) =>
    differences.filter(({ total }) => total === wanted).map(({ leaf }) => leaf);
  const missing = (total: boolean, needed: ReadonlySet<string>, stored: readonly string[]) => {
    const known = new Set(stored);
    let place = 0;
    return [...needed].sort().flatMap((at): NewBoundary[] => {
      while ((stored[place] ?? LAST_INSTANT) < at) place++;
      return known.has(at) ? [] : [{ total, at, before: stored[place - 1] }];
    });
  };
  return [
    ...missing(false, new Set(leavesOf(false).map(({ to }) => to)), owners),
    ...missing(true, boundariesOfTotal(leavesOf(true), totalLeaf), totals),
  ];
}

/** The number of new boundaries, or of additions, in one INSERT. */
const ROWS_PER_INSERT = 500;

/** What is added to the sums of an owner at the boundaries from `from` on; before `until`, if there is one. */
interface Addition extends Sums, Pick<Difference, "total" | "server" | "instance"> {
  readonly from: string;
  readonly until: string | null;
}

/** The additions of one owner: at each boundary, all differences up to there. So each row is written once. */
function additionsOf(differences: readonly Difference[]): Addition[] {
  const inOrder = differences.toSorted((left, right) => (left.leaf.to < right.leaf.to ? -1 : 1));
  let sums = NO_SUMS;
  return inOrder.map((difference, nth) => {
    const { total, server, instance, leaf } = difference;
    sums = plus(sums, difference);
    const until = inOrder[nth + 1]?.leaf.to ?? null;
    return { total, server, instance, from: leaf.to, until, ...sums };
  });
}

/** A boundary that is not stored yet, and the last stored one before it. */
interface NewBoundary {
  readonly total: boolean;
  readonly at: string;
  readonly before: string | undefined;
}

/** The columns that a change writes. */
const STORED_COLUMNS = [
  "provider_id",
  "format",
  "slot",
  "total",
  "at",
  "server_id",
  "instance_id",
  ...SUM_NAMES,
].join(", ");

/** Stores boundaries, each with the sums of the one before. */
async function copyBoundaries(
  transaction: Knex.Transaction,
  { provider, slot }: Rollup,
  added: readonly NewBoundary[],
): Promise<void> {
  const copied = added.filter(({ before }) => before !== undefined);
  if (copied.length === 0) return;
  const copies = copied.map(
    () =>
      "SELECT CAST(? AS DATETIME(3)) AS copy, CAST(? AS UNSIGNED) AS kind, CAST(? AS DATETIME(3)) AS original",
  );
  await transaction.raw(
    `INSERT INTO ${TABLES.sums} (${STORED_COLUMNS})
     SELECT provider_id, format, slot, total, copies.copy, server_id, instance_id, ${SUM_NAMES.join(", ")}
     FROM (${copies.join(" UNION ALL ")}) AS copies
     STRAIGHT_JOIN ${STORED} AND total = copies.kind AND at = copies.original`,
    [
      ...copied.flatMap(({ total, at, before = "" }) => [at, Number(total), before]),
      ...[provider, slot],
    ],
  );
}

/** SQL: adds to sums that are there already. */
const ADD = `ON DUPLICATE KEY UPDATE ${SUM_NAMES.map((name) => `${name} = ${TABLES.sums}.${name} + VALUES(${name})`).join(", ")}`;

/** The texts of sums, in the order of their columns. */
const textsOf = (sums: Sums) => SUM_NAMES.map((name) => textOf(name, sums[name]));

/**
 * Writes additions to owners, in the order of their first boundaries.
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
    const { from, until, server, instance } = addition;
    return [from, until, server, instance, ...textsOf(addition)];
  });
  const typed = SUM_NAMES.map((name) => `CAST(? AS ${typeOf(name)}) AS ${name}`);
  const added = rows.map((_, nth) =>
    nth === 0
      ? `SELECT CAST(? AS DATETIME(3)) AS first, CAST(? AS DATETIME(3)) AS ends,
           CAST(? AS UNSIGNED) AS server_id, CAST(? AS UNSIGNED) AS instance_id,
           ${typed.join(", ")}`
      : `SELECT ?, ?, ?, ?, ${SUM_NAMES.map(() => "?").join(", ")}`,
  );
  const from = additions[0]?.from ?? LAST_INSTANT;
  const boundaries = [
    `SELECT at FROM (SELECT DISTINCT provider_id, format, slot, total, at
       FROM ${STORED} AND total = 0 AND at >= ?) AS known`,
    ...empty.map(() => "SELECT CAST(? AS DATETIME(3))"),
  ];
  await transaction.raw(
    `INSERT INTO ${TABLES.sums} (${STORED_COLUMNS})
     SELECT ?, ${FORMAT}, ?, 0, boundaries.at, added.server_id, added.instance_id,
       ${SUM_NAMES.map((name) => `added.${name}`).join(", ")}
     FROM (${added.join(" UNION ALL ")}) AS added
     JOIN (${boundaries.join(" UNION ")}) AS boundaries
       ON boundaries.at >= added.first AND COALESCE(boundaries.at < added.ends, TRUE)
     ${ADD}`,
    [provider, slot, ...rows.flat(), provider, slot, from, ...empty],
  );
}

/**
 * Writes additions to the provider as a whole, in the order of their first boundaries: to each of some boundaries, and
 * all of it to those that come after them. There may be many of either, and one row at each. Before the first row of
 * the ledger are the first quarter hours of its day, with sums of zero.
 *
 * @param boundaries in order, the first one that was stored before, and the end of the part of the timeline that has them
 */
async function addToTotal(
  transaction: Knex.Transaction,
  { provider, slot }: Rollup,
  additions: readonly Addition[],
  boundaries: { readonly all: readonly string[]; readonly first: string; readonly to: string },
): Promise<void> {
  const last = additions.at(-1);
  if (last === undefined) return;
  let place = -1;
  const rows = boundaries.all.flatMap((at) => {
    while ((additions[place + 1]?.from ?? LAST_INSTANT) <= at) place++;
    const sums = additions[place] ?? (at < boundaries.first ? NO_SUMS : undefined);
    return sums === undefined ? [] : [[at, ...textsOf(sums)]];
  });
  for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
    const some = rows.slice(start, start + ROWS_PER_INSERT);
    const row = `(?, ${FORMAT}, ?, 1, ?, 0, 0, ${SUM_NAMES.map(() => "?").join(", ")})`;
    await transaction.raw(
      `INSERT INTO ${TABLES.sums} (${STORED_COLUMNS}) VALUES ${some.map(() => row).join(", ")} ${ADD}`,
      some.flatMap((values) => [provider, slot, ...values]),
    );
  }
  // A text without a type would be added as DOUBLE.
  const added = SUM_NAMES.map((name) => `${name} = ${name} + CAST(? AS ${typeOf(name)})`);
  await transaction.raw(
    `UPDATE ${TABLES.sums} SET ${added.join(", ")}
     WHERE ${OF_ROLLUP} AND total = 1 AND at > ?`,
    [...textsOf(last), provider, slot, boundaries.to],
  );
}
