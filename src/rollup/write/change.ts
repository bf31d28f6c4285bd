/**
 * Changes of a rollup: computed in one snapshot, by comparing leaves with the ledger, and written in
 * one short transaction, unless the rollup has changed in between.
 */
import type { Knex } from "knex";
import { TABLES } from "../coverage.ts";
import { boundariesOfTotal, type Leaf } from "../leaves.ts";
import { FORMAT, isZero, NO_SUMS, plus, SUM_NAMES, type Sums, textOf, typeOf } from "../sums.ts";
import type { Boundaries } from "./boundaries.ts";
import { type Compared, compareLeaves, type Difference } from "./comparison.ts";
import { inShortTransaction, newVersion, type Rollup, readRollups, rowOf } from "./state.ts";

/** The maximum number of rows that a change writes, about. A larger one is a case for a build. */
const MAX_CHANGED_ROWS = 500_000;
/** The same for the leaves that it compares, each of which may be a boundary that is new. */
export const MAX_CHANGED_LEAVES = 1_000;

/** A change of a rollup. */
export interface Change {
  /** The rollup as it was in the snapshot. */
  readonly rollup: Rollup;
  /** The watermark after the change. */
  readonly until: string;
  readonly differences: readonly Difference[];
  readonly boundaries: Boundaries;
}

/**
 * Computes a change. Resolves to "too large" if it has too many leaves, or would write too many rows.
 *
 * @param limit the maximum number of rows, about
 */
export async function computeChange(
  reader: Knex.Transaction,
  rollup: Rollup,
  boundaries: Boundaries,
  compared: Compared,
  until: string,
  limit = MAX_CHANGED_ROWS,
): Promise<Change | "too large"> {
  if (compared.leaves.length > MAX_CHANGED_LEAVES) return "too large";
  const differences: Difference[] = [];
  const stored = new Set(boundaries.owners);
  let rows = 0;
  for await (const found of compareLeaves(reader, rollup, compared, boundaries, until)) {
    for (const difference of found) {
      differences.push(difference);
      rows += laterThan(difference, boundaries);
      if (difference.total || stored.has(difference.leaf.to)) continue;
      stored.add(difference.leaf.to);
      rows += boundaries.width;
    }
    if (rows > limit) return "too large";
  }
  return { rollup, until, differences, boundaries };
}

/** The number of stored boundaries whose sums a difference changes, and its own. */
function laterThan({ total, leaf }: Difference, { owners, totals }: Boundaries): number {
  const stored = total ? totals : owners;
  return stored.length - stored.findLastIndex((at) => at < leaf.to);
}

/**
 * Writes a change. Resolves to false if the rollup is no longer as it was in the snapshot; then nothing
 * is written.
 *
 * @param columns further columns of its row in `rollups` to set
 * @param committing called before COMMIT: an error after that leaves open whether the change was written
 */
export function writeChange(
  database: Knex,
  { rollup, until, differences, boundaries }: Change,
  columns: Readonly<Record<string, string | number>> = {},
  committing: () => void = () => {},
): Promise<boolean> {
  const changes = until !== rollup.watermark || differences.length > 0;
  if (!changes && Object.keys(columns).length === 0) return Promise.resolve(true);
  return inShortTransaction(database, async (transaction) => {
    if (!(await isUnchanged(transaction, rollup))) return false;
    await addDifferences(transaction, rollup, differences, boundaries);
    const version = changes ? newVersion() : rollup.version;
    await rowOf(transaction, rollup).update({ ...columns, watermark: until, version });
    committing();
    return true;
  });
}

/** Whether a rollup is as it was read. Locks its row. */
export async function isUnchanged(
  transaction: Knex.Transaction,
  { provider, building, version }: Rollup,
): Promise<boolean> {
  const { current, build } = await readRollups(transaction, provider, true);
  return (building ? build : current)?.version === version;
}

/** Adds each difference to the boundary of its leaf and to all later ones. */
async function addDifferences(
  transaction: Knex.Transaction,
  rollup: Rollup,
  all: readonly Difference[],
  boundaries: Boundaries,
): Promise<void> {
  const differences = all.filter((difference) => !isZero(difference));
  const added = [false, true].flatMap((total) => {
    const stored = total ? boundaries.totals : boundaries.owners;
    const ofKind = differences.filter((difference) => difference.total === total);
    const boundariesOf = total ? boundariesOfTotal : ({ to }: Leaf) => [to];
    const needed = new Set(ofKind.flatMap(({ leaf }) => boundariesOf(leaf)));
    return [...needed.difference(new Set(stored))].map((at) => ({
      total,
      at,
      before: stored.findLast((each) => each < at),
    }));
  });
  for (let start = 0; start < added.length; start += ROWS_PER_INSERT) {
    await copyBoundaries(transaction, rollup, added.slice(start, start + ROWS_PER_INSERT));
  }
  const empty = added.filter(({ before }) => before === undefined);
  const ownerOf = ({ total, server, instance }: Difference) => `${total} ${server} ${instance}`;
  const additions = [...Map.groupBy(differences, ownerOf).values()]
    .flatMap(additionsOf)
    .sort((left, right) => (left.from < right.from ? -1 : 1));
  for (let start = 0; start < additions.length; start += ROWS_PER_INSERT) {
    await addBetween(transaction, rollup, additions.slice(start, start + ROWS_PER_INSERT), empty);
  }
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

/** What follows FROM for the sums of a rollup, with bindings for provider and slot. */
const STORED = `${TABLES.sums} WHERE provider_id = ? AND format = ${FORMAT} AND slot = ?`;

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
      `SELECT provider_id, format, slot, total, CAST(? AS DATETIME(3)), server_id, instance_id,
         ${SUM_NAMES.join(", ")} FROM ${STORED} AND total = ? AND at = ?`,
  );
  await transaction.raw(
    `INSERT INTO ${TABLES.sums} (${STORED_COLUMNS}) ${copies.join(" UNION ALL ")}`,
    copied.flatMap(({ total, at, before = "" }) => [at, provider, slot, Number(total), before]),
  );
}

/** @param empty boundaries that are new, and have no row yet */
async function addBetween(
  transaction: Knex.Transaction,
  { provider, slot }: Rollup,
  additions: readonly Addition[],
  empty: readonly NewBoundary[],
): Promise<void> {
  const rows = additions.map((addition) => {
    const { total, from, until, server, instance } = addition;
    const sums = SUM_NAMES.map((name) => textOf(name, addition[name]));
    return [Number(total), from, until, server, instance, ...sums];
  });
  const typed = SUM_NAMES.map((name) => `CAST(? AS ${typeOf(name)}) AS ${name}`);
  const [first, ...others] = rows.map((_, nth) =>
    nth === 0
      ? `SELECT CAST(? AS UNSIGNED) AS total, CAST(? AS DATETIME(3)) AS first,
           CAST(? AS DATETIME(3)) AS ends,
           CAST(? AS UNSIGNED) AS server_id, CAST(? AS UNSIGNED) AS instance_id,
           ${typed.join(", ")}`
      : `SELECT ?, ?, ?, ?, ?, ${SUM_NAMES.map(() => "?").join(", ")}`,
  );
  const later = [false, true].flatMap((total) => {
    const earliest = additions.find((each) => each.total === total);
    return earliest === undefined ? [] : [{ total: Number(total), from: earliest.from }];
  });
  const stored = later.map(
    (_, nth) =>
      `SELECT total, at FROM (SELECT DISTINCT provider_id, format, slot, total, at
         FROM ${STORED} AND total = ? AND at >= ?) AS stored${nth}`,
  );
  const known = empty.map(() => "SELECT CAST(? AS UNSIGNED), CAST(? AS DATETIME(3))");
  await transaction.raw(
    `INSERT INTO ${TABLES.sums} (${STORED_COLUMNS})
     SELECT ?, ${FORMAT}, ?, added.total, boundaries.at, added.server_id, added.instance_id,
       ${SUM_NAMES.map((name) => `added.${name}`).join(", ")}
     FROM (${[first, ...others].join(" UNION ALL ")}) AS added
     JOIN (${[...stored, ...known].join(" UNION ")}) AS boundaries
       ON boundaries.total = added.total AND boundaries.at >= added.first
         AND COALESCE(boundaries.at < added.ends, TRUE)
     ON DUPLICATE KEY UPDATE
       ${SUM_NAMES.map((name) => `${name} = ${TABLES.sums}.${name} + VALUES(${name})`).join(", ")}`,
    [
      provider,
      slot,
      ...rows.flat(),
      ...later.flatMap(({ total, from }) => [provider, slot, total, from]),
      ...empty.flatMap(({ total, at }) => [Number(total), at]),
    ],
  );
}
