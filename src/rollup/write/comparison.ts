/**
 * Comparing leaves with the ledger: the one function behind refreshes, builds, checks and
 * verification. They differ only in which leaves they compare, and at which watermark.
 */
import type { Knex } from "knex";
import { justBefore, type Leaf, leafAt, leafOfTotal } from "../leaves.ts";
import { increments, type SumsRow, sumsOf } from "../stored-sums.ts";
import { isZero, minus, NO_SUMS, plus, SUM_NAMES, type Sums, zero } from "../sums.ts";
import type { Stored } from "./boundaries.ts";
import { type Branch, ledgerBranches, SUM_COLUMNS } from "./covered-rows.ts";
import { byLeaf } from "./ledger.ts";
import { type Rollup, STORED } from "./state.ts";

/** What the ledger has in a leaf, and the rollup lacks; negative if it has more. */
export interface Difference extends Sums {
  /** Whether it is of the provider as a whole. If not, it is of an owner. */
  readonly total: boolean;
  readonly leaf: Leaf;
  /** The owner: ids of the server and of the instance, "0" for none. */
  readonly server: string;
  readonly instance: string;
  /** The part of it that rows explain which became covered since the rollup's watermark. */
  readonly fresh: Sums;
}

/** What is compared: some leaves of owners, and the provider as a whole over the same time. */
export interface Compared {
  readonly leaves: readonly Leaf[];
  /** Each from a boundary of owners to another one; together they hold the leaves, and no row of others. */
  readonly stretches: readonly Leaf[];
}

/** The maximum number of leaves, and of stretches, that one statement compares. */
const MAX_LEAVES = 64;

/**
 * Compares leaves of a rollup with the ledger as it is covered at the watermark `until`, in the
 * snapshot of `reader`. Yields the differences of some leaves at a time.
 */
export async function* compareLeaves(
  reader: Knex.Transaction,
  rollup: Rollup,
  { leaves, stretches }: Compared,
  { owners, totals }: Pick<Stored, "owners" | "totals">,
  until: string,
): AsyncGenerator<Difference[]> {
  for (let start = 0; start < leaves.length; start += MAX_LEAVES) {
    const some = leaves.slice(start, start + MAX_LEAVES);
    yield await compareOwners(reader, rollup, some, owners, until);
  }
  for (let start = 0; start < stretches.length; start += MAX_LEAVES) {
    const some = stretches.slice(start, start + MAX_LEAVES);
    yield await compareTotal(reader, rollup, some, totals, until);
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
  const rows = await select(
    reader,
    branches,
    (parts) => `SELECT leaf, server_id, instance_id, ${sums.join(", ")} FROM (${parts}) AS parts
      GROUP BY leaf, server_id, instance_id HAVING ${differs.join(" OR ")} ORDER BY leaf, server_id, instance_id`,
  );
  return rows.map((row): Difference => {
    const leaf = leaves[Number(row.leaf)] as Leaf;
    const owner = { server: String(row.server_id), instance: String(row.instance_id) };
    return { leaf, total: false, ...owner, ...sumsOf(row), fresh: freshOf(row) };
  });
}

/**
 * Compares the provider as a whole over stretches of time. Its sums at the boundaries in a stretch are read,
 * and what the ledger has in each of its leaves with rows.
 */
async function compareTotal(
  reader: Knex.Transaction,
  rollup: Rollup,
  stretches: readonly Leaf[],
  stored: readonly string[],
  until: string,
): Promise<Difference[]> {
  const length = leafOfTotal(rollup);
  const branches = stretches.flatMap((stretch, nth) => [
    ...ledgerBranches(rollup, stretch, until, {
      select: (datedBy) => `${nth} AS stretch, MIN(${datedBy}) AS at, 0 AS is_stored`,
      group: (datedBy) => byLeaf(datedBy, length),
    }),
    totalFrom(rollup, stored.findLast((at) => at <= stretch.from) ?? stretch.from, stretch.to, nth),
  ]);
  const rows = await select(reader, branches);
  const byLeafEnd = new Map<string, Difference>();
  const add = (at: string, sums: Sums, fresh: Sums) => {
    const leaf = leafAt(at, length);
    const known = byLeafEnd.get(leaf.to) ?? { ...TOTAL, leaf };
    const added = { ...plus(known, sums), fresh: plus(known.fresh, fresh) };
    byLeafEnd.set(leaf.to, { ...TOTAL, leaf, ...added });
  };
  const isStored = (row: Row) => Number(row.is_stored) === 1;
  const [inRollup, inLedger] = [rows.filter(isStored), rows.filter((row) => !isStored(row))];
  for (const row of inLedger) add(row.at, sumsOf(row), freshOf(row));
  for (const [nth, { from }] of stretches.entries()) {
    const boundaries = inRollup.filter(({ stretch }) => Number(stretch) === nth);
    const before = boundaries.find(({ at }) => at <= from);
    const inside = boundaries.filter(({ at }) => at > from);
    for (const [at, sums] of increments(before, inside)) {
      add(justBefore(at).from, minus(NO_SUMS, sums), NO_SUMS);
    }
  }
  return [...byLeafEnd.values()].filter((each) => !isZero(each) || !isZero(each.fresh));
}

/** Nothing, of the provider as a whole. */
const TOTAL = { total: true, server: "0", instance: "0", ...NO_SUMS, fresh: NO_SUMS } as const;

type Row = SumsRow & Readonly<Record<string, string>> & { readonly at: string };

/** Selects the rows of all branches, or what a query makes of them. */
async function select(
  reader: Knex.Transaction,
  branches: readonly Branch[],
  query: (parts: string) => string = (parts) => parts,
): Promise<Row[]> {
  const parts = branches.map(({ sql }) => sql).join(" UNION ALL ");
  const [rows] = await reader.raw(
    query(parts),
    branches.flatMap(({ bindings }) => bindings),
  );
  return rows;
}

/** The sums of owners at a boundary, with a sign. */
function ownersAt({ provider, slot }: Rollup, at: string, nth: number, sign: "-" | ""): Branch {
  const columns = [...SUM_NAMES.map((name) => `${sign}${name}`), ...SUM_NAMES.map(zero)];
  return {
    sql: `SELECT ${nth}, server_id, instance_id, ${columns.join(", ")}
      FROM ${STORED} AND total = 0 AND at = ?`,
    bindings: [provider, slot, at],
  };
}

/** The sums of the provider as a whole at all boundaries from one to another. */
function totalFrom({ provider, slot }: Rollup, first: string, last: string, nth: number): Branch {
  return {
    sql: `SELECT ${nth}, at, 1, ${[...SUM_NAMES, ...SUM_NAMES.map(zero)].join(", ")}
      FROM ${STORED} AND total = 1 AND at BETWEEN ? AND ?`,
    bindings: [provider, slot, first, last],
  };
}

/** The sums of rows that became covered since the rollup's watermark. */
function freshOf(row: Row): Sums {
  return sumsOf(
    Object.fromEntries(SUM_NAMES.map((name) => [name, row[`fresh_${name}`]])) as SumsRow,
  );
}
