/**
 * Changes of a rollup: computed in one snapshot, by comparing leaves with the ledger, and written in
 * one short transaction, unless the rollup has changed in between.
 */
import type { Knex } from "knex";
import { addDifferences, laterThan, ownerOf } from "./additions.ts";
import { type Compared, compareLeaves, type Difference, type Differences } from "./comparison.ts";
import { addToIncrements, type QuarterDifference } from "./increments.ts";
import { ownersOf } from "./ledger.ts";
import { inShortTransaction, newVersion, type Rollup, rowOf } from "./state.ts";

/** The maximum number of rows that a change writes, about. A larger one is a case for a build. */
const MAX_CHANGED_ROWS = 500_000;
/** The maximum number of leaves that it compares, each of which may be a boundary that is new. */
export const MAX_CHANGED_LEAVES = 1_000;

/** A change of a rollup. */
export interface Change extends Differences {
  /** The rollup as it was in the snapshot. */
  readonly rollup: Rollup;
  /** The watermark after the change. */
  readonly until: string;
  /** The boundaries that are stored near them. */
  readonly stored: readonly string[];
}

/**
 * Computes a change. Resolves to "too large" if it would write too many rows.
 *
 * @param stored the boundaries near what is compared
 * @param limit the maximum number of rows, about
 */
export async function computeChange(
  reader: Knex.Transaction,
  rollup: Rollup,
  stored: readonly string[],
  compared: Compared,
  until: string,
  limit = MAX_CHANGED_ROWS,
): Promise<Change | "too large"> {
  const rowsOfBoundary = await ownersOf(reader, rollup.provider);
  const [owners, quarters]: [Difference[], QuarterDifference[]] = [[], []];
  const known = new Set(stored);
  let rows = 0;
  /** By owner, the rows that its earliest difference changes. Those of its later ones are among them. */
  const changed = new Map<string, number>();
  for await (const found of compareLeaves(reader, rollup, compared, stored, until)) {
    quarters.push(...found.quarters);
    for (const difference of found.owners) {
      owners.push(difference);
      const owner = ownerOf(difference);
      const counted = changed.get(owner) ?? 0;
      const most = Math.max(counted, laterThan(difference, stored));
      rows += most - counted;
      changed.set(owner, most);
      if (known.has(difference.leaf.to)) continue;
      known.add(difference.leaf.to);
      rows += rowsOfBoundary;
    }
    if (rows + quarters.length > limit) return "too large";
  }
  return { rollup, until, owners, stored, quarters };
}

/**
 * Writes a change. Resolves to false if the rollup is no longer as it was in the snapshot; then nothing
 * is written.
 *
 * @param columns further columns of its row in `rollups` to set
 */
export function writeChange(
  database: Knex,
  change: Change,
  columns: Readonly<Record<string, string | number>> = {},
): Promise<boolean> {
  const { rollup, until, owners, stored, quarters } = change;
  const changes = until !== rollup.watermark || owners.length + quarters.length > 0;
  const version = changes ? newVersion() : rollup.version;
  return inShortTransaction(database, async (transaction) => {
    const ofVersion = (of: string) => rowOf(transaction, rollup).where({ version: of });
    // It locks the row until the transaction ends.
    const row = { ...columns, watermark: until, version };
    if ((await ofVersion(rollup.version).update(row)) === 0) {
      // It is written if only the answer to COMMIT was lost.
      return (await ofVersion(version).first()) !== undefined;
    }
    await addDifferences(transaction, rollup, owners, stored);
    await addToIncrements(transaction, rollup, quarters);
    return true;
  });
}
