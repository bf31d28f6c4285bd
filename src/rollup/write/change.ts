/**
 * Changes of a rollup: computed in one snapshot, by comparing leaves with the ledger, and written in
 * one short transaction, unless the rollup has changed in between.
 */
import type { Knex } from "knex";
import { TABLES } from "../coverage.ts";
import { FORMAT, isZero, SUM_NAMES, SUMS, textOf } from "../sums.ts";
import { type Boundaries, compareLeaves, type Difference, type Leaves } from "./comparison.ts";
import { inShortTransaction, newVersion, type Rollup, readRollups, rowOf } from "./state.ts";

/** The maximum number of rows that a change writes. A larger one is a case for a build. */
const MAX_CHANGED_ROWS = 500_000;

/** A change of a rollup. */
export interface Change {
  /** The rollup as it was in the snapshot. */
  readonly rollup: Rollup;
  /** The watermark after the change. */
  readonly until: string;
  readonly differences: readonly Difference[];
  readonly boundaries: Boundaries;
}

/** Computes a change. Resolves to "too large" if it would write too many rows. */
export async function computeChange(
  reader: Knex.Transaction,
  rollup: Rollup,
  boundaries: Boundaries,
  leaves: Leaves,
  until: string,
): Promise<Change | "too large"> {
  const differences: Difference[] = [];
  let rows = 0;
  for await (const found of compareLeaves(reader, rollup, leaves, boundaries, until)) {
    for (const difference of found) {
      differences.push(difference);
      rows += laterThan(difference, boundaries);
    }
    if (rows > MAX_CHANGED_ROWS) return "too large";
  }
  return { rollup, until, differences, boundaries };
}

/** The number of boundaries whose sums a difference changes, its own included, stored or new. */
function laterThan({ total, leaf }: Difference, { owners, totals }: Boundaries): number {
  const stored = total ? totals : owners;
  return stored.length - stored.findLastIndex((at) => at < leaf.to);
}

/**
 * Writes a change. Resolves to false if the rollup is no longer as it was in the snapshot; then nothing
 * is written.
 *
 * @param columns further columns of its row in `rollups` to set
 */
export function writeChange(
  database: Knex,
  { rollup, until, differences, boundaries }: Change,
  columns: Readonly<Record<string, string | number>> = {},
): Promise<boolean> {
  const changes = until !== rollup.watermark || differences.length > 0;
  if (!changes && Object.keys(columns).length === 0) return Promise.resolve(true);
  return inShortTransaction(database, async (transaction) => {
    if (!(await isUnchanged(transaction, rollup))) return false;
    await addDifferences(transaction, rollup, differences, boundaries);
    const version = changes ? newVersion() : rollup.version;
    await rowOf(transaction, rollup).update({ ...columns, watermark: until, version });
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
    const ends = new Set(ofKind.map(({ leaf }) => leaf.to)).difference(new Set(stored));
    return [...ends].map((at) => ({ total, at, before: stored.findLast((each) => each < at) }));
  });
  await copyBoundaries(transaction, rollup, added);
  for (let start = 0; start < differences.length; start += BATCH) {
    await addFrom(transaction, rollup, differences.slice(start, start + BATCH), added);
  }
}

/** The number of differences in one INSERT. */
const BATCH = 500;

/** A boundary that is not stored yet, and the last stored one before it. */
interface NewBoundary {
  readonly total: boolean;
  readonly at: string;
  readonly before: string | undefined;
}

/** What follows FROM for the sums of a rollup, with bindings for provider and slot. */
const STORED = `${TABLES.sums} WHERE provider_id = ? AND format = ${FORMAT} AND slot = ?`;

/** The columns that a change writes. */
const COLUMNS = [
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
    `INSERT INTO ${TABLES.sums} (${COLUMNS}) ${copies.join(" UNION ALL ")}`,
    copied.flatMap(({ total, at, before = "" }) => [at, provider, slot, Number(total), before]),
  );
}

/**
 * Adds differences to the sums at the boundaries of their leaves, and at all later ones.
 *
 * @param added boundaries that are new, and may have no row yet
 */
async function addFrom(
  transaction: Knex.Transaction,
  { provider, slot }: Rollup,
  differences: readonly Difference[],
  added: readonly NewBoundary[],
): Promise<void> {
  const rows = differences.map((difference) => {
    const { total, leaf, server, instance } = difference;
    const sums = SUM_NAMES.map((name) => textOf(name, difference[name]));
    return [Number(total), leaf.to, server, instance, ...sums];
  });
  const typed = SUM_NAMES.map(
    (name) => `CAST(? AS ${SUMS[name].money ? "DECIMAL(20,2)" : "SIGNED"}) AS ${name}`,
  );
  const [first, ...others] = rows.map((_, nth) =>
    nth === 0
      ? `SELECT CAST(? AS UNSIGNED) AS total, CAST(? AS DATETIME(3)) AS boundary,
           CAST(? AS UNSIGNED) AS server_id, CAST(? AS UNSIGNED) AS instance_id,
           ${typed.join(", ")}`
      : `SELECT ?, ?, ?, ?, ${SUM_NAMES.map(() => "?").join(", ")}`,
  );
  const later = [false, true].flatMap((total) => {
    const ends = differences.filter((each) => each.total === total).map(({ leaf }) => leaf.to);
    const [from] = ends.sort();
    return from === undefined ? [] : [{ total: Number(total), from }];
  });
  const stored = later.map(
    (_, nth) =>
      `SELECT total, at FROM (SELECT DISTINCT provider_id, format, slot, total, at
         FROM ${STORED} AND total = ? AND at >= ?) AS stored${nth}`,
  );
  const known = added.map(() => "SELECT CAST(? AS UNSIGNED), CAST(? AS DATETIME(3))");
  await transaction.raw(
    `INSERT INTO ${TABLES.sums} (${COLUMNS})
     SELECT ?, ${FORMAT}, ?, added.total, boundaries.at, added.server_id, added.instance_id,
       ${SUM_NAMES.map((name) => `SUM(added.${name})`).join(", ")}
     FROM (${[first, ...others].join(" UNION ALL ")}) AS added
     JOIN (${[...stored, ...known].join(" UNION ")}) AS boundaries
       ON boundaries.total = added.total AND boundaries.at >= added.boundary
     GROUP BY added.total, boundaries.at, added.server_id, added.instance_id
     ON DUPLICATE KEY UPDATE
       ${SUM_NAMES.map((name) => `${name} = ${TABLES.sums}.${name} + VALUES(${name})`).join(", ")}`,
    [
      provider,
      slot,
      ...rows.flat(),
      ...later.flatMap(({ total, from }) => [provider, slot, total, from]),
      ...added.flatMap(({ total, at }) => [Number(total), at]),
    ],
  );
}
