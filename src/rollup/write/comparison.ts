/**
 * Comparing leaves with the ledger: the one function behind refreshes, builds, checks and
 * verification. They differ only in which leaves they compare, and at which watermark.
 */
import type { Knex } from "knex";
import type { Leaf } from "../leaves.ts";
import { type SumsRow, sumsOf } from "../stored-sums.ts";
import { SUM_NAMES, type Sums, zero } from "../sums.ts";
import { type Branch, ledgerBranches, SUM_COLUMNS } from "./covered-rows.ts";
import { compareQuarters, type IncrementDifference } from "./increments.ts";
import { type Rollup, STORED } from "./state.ts";

/** What the ledger has of an owner in a leaf, and the rollup lacks; negative if it has more. */
export interface Difference extends Sums {
  readonly leaf: Leaf;
  /** The owner: ids of the server and of the instance, "0" for none. */
  readonly server: string;
  readonly instance: string;
  /** The part of it that rows explain which became covered since the rollup's watermark. */
  readonly fresh: Sums;
}

/** What is compared: some leaves of owners, and the quarter hours of the same time. */
export interface Compared {
  readonly leaves: readonly Leaf[];
  /** Each of whole leaves and whole quarter hours; together they hold the leaves, and no row of others. */
  readonly stretches: readonly Leaf[];
}

/** What differs, of owners and of quarter hours. */
export interface Differences {
  readonly owners: readonly Difference[];
  readonly quarters: readonly IncrementDifference[];
}

/** The maximum number of leaves, and of stretches, that one statement compares. */
const MAX_LEAVES = 64;

/**
 * Compares leaves of a rollup with the ledger as it is covered at the watermark `until`, in the
 * snapshot of `reader`. Yields the differences of some leaves at a time, then those of quarter hours.
 *
 * @param stored the boundaries that are stored near the leaves, in order
 */
export async function* compareLeaves(
  reader: Knex.Transaction,
  rollup: Rollup,
  { leaves, stretches }: Compared,
  stored: readonly string[],
  until: string,
): AsyncGenerator<Differences> {
  for (let start = 0; start < leaves.length; start += MAX_LEAVES) {
    const some = leaves.slice(start, start + MAX_LEAVES);
    yield { owners: await compareOwners(reader, rollup, some, stored, until), quarters: [] };
  }
  for (let start = 0; start < stretches.length; start += MAX_LEAVES) {
    const some = stretches.slice(start, start + MAX_LEAVES);
    yield { owners: [], quarters: await compareQuarters(reader, rollup, some, until) };
  }
}

/** Compares each leaf by owner, in the database: it sends the differences alone. */
async function compareOwners(
  reader: Knex.Transaction,
  rollup: Rollup,
  leaves: readonly Leaf[],
  stored: readonly string[],
  until: string,
): Promise<Difference[]> {
  const branches = leaves.flatMap((leaf, nth) => {
    const parts = ledgerBranches(rollup, leaf, until, {
      select: () => `${nth} AS leaf, server_id, COALESCE(instance_id, 0) AS instance_id`,
      group: () => "server_id, instance_id",
    });
    const place = stored.findLastIndex((at) => at <= leaf.to);
    if (stored[place] !== leaf.to) return parts;
    parts.push(ownersAt(rollup, leaf.to, nth, "-"));
    const before = stored[place - 1];
    if (before !== undefined) parts.push(ownersAt(rollup, before, nth, ""));
    return parts;
  });
  const sums = SUM_COLUMNS.map((column) => `SUM(${column}) AS ${column}`);
  const differs = SUM_COLUMNS.map((column) => `SUM(${column}) <> 0`);
  const [rows] = await reader.raw(
    `SELECT leaf, server_id, instance_id, ${sums.join(", ")}
     FROM (${branches.map(({ sql }) => sql).join(" UNION ALL ")}) AS parts
     GROUP BY leaf, server_id, instance_id HAVING ${differs.join(" OR ")} ORDER BY leaf, server_id, instance_id`,
    branches.flatMap(({ bindings }) => bindings),
  );
  return rows.map((row: Row): Difference => {
    const leaf = leaves[Number(row.leaf)] as Leaf;
    const owner = { server: String(row.server_id), instance: String(row.instance_id) };
    return { leaf, ...owner, ...sumsOf(row), fresh: freshOf(row) };
  });
}

type Row = SumsRow & Readonly<Record<string, string>>;

/** The sums of owners at a boundary, with a sign. */
function ownersAt({ provider, slot }: Rollup, at: string, nth: number, sign: "-" | ""): Branch {
  const columns = [...SUM_NAMES.map((name) => `${sign}${name}`), ...SUM_NAMES.map(zero)];
  return {
    sql: `SELECT ${nth}, server_id, instance_id, ${columns.join(", ")}
      FROM ${STORED} AND total = 0 AND at = ?`,
    bindings: [provider, slot, at],
  };
}

/** The sums of rows that became covered since the rollup's watermark. */
function freshOf(row: Row): Sums {
  return sumsOf(
    Object.fromEntries(SUM_NAMES.map((name) => [name, row[`fresh_${name}`]])) as SumsRow,
  );
}
