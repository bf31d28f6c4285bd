/**
 * Comparing leaves with the ledger: the one function behind refreshes, builds, checks and
 * verification. They differ only in which leaves they compare, and at which watermark.
 */
import type { Knex } from "knex";
import { parseCents } from "../../db/cents.ts";
import { chargeCovered, rentalCovered, TABLES } from "../coverage.ts";
import { FIRST_INSTANT, isBoundary, LAST_INSTANT, type Leaf, type LeafLength } from "../leaves.ts";
import { FORMAT, SUM_NAMES, SUMS, type SumName, type Sums, sumIf, sumsFrom } from "../sums.ts";
import type { Rollup } from "./state.ts";

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

/** The leaves of owners and of the provider as a whole, each in order. */
export interface Leaves {
  readonly owners: readonly Leaf[];
  readonly totals: readonly Leaf[];
}

/** The stored boundaries of a rollup, each list in order. */
export interface Boundaries {
  readonly owners: readonly string[];
  readonly totals: readonly string[];
  /** The number of owners at the last one: of rows that a further one has. */
  readonly width: number;
}

/** The maximum number of leaves that one statement compares. */
const MAX_LEAVES = 64;

/** Reads the stored boundaries of a rollup. */
export async function readBoundaries(
  reader: Knex.Transaction,
  { provider, slot }: Rollup,
): Promise<Boundaries> {
  const [rows] = await reader.raw(
    // With all columns of the index up to `at`, the server skips from one boundary to the next.
    `SELECT DISTINCT provider_id, format, slot, total, at FROM ${TABLES.sums}
     WHERE provider_id = ? AND format = ${FORMAT} AND slot = ? ORDER BY total, at`,
    [provider, slot],
  );
  const of = (wanted: number): string[] =>
    rows
      .filter((row: BoundaryRow) => Number(row.total) === wanted)
      .map(({ at }: BoundaryRow) => at);
  const owners = of(0);
  const [[{ width }]] = await reader.raw(
    `SELECT COUNT(*) AS width FROM ${TABLES.sums}
     WHERE provider_id = ? AND format = ${FORMAT} AND slot = ? AND total = 0 AND at = ?`,
    [provider, slot, owners.at(-1) ?? FIRST_INSTANT],
  );
  return { owners, totals: of(1), width: Number(width) };
}

/** A stored boundary at which no leaf ends, so that no run can have stored it. */
export function misplacedBoundary(
  { owners, totals }: Boundaries,
  { leaf, totalLeaf }: Rollup,
): string | undefined {
  const misplaced = (stored: readonly string[], length: LeafLength) =>
    stored.find((at) => !isBoundary(at, length));
  return misplaced(owners, leaf) ?? misplaced(totals, totalLeaf);
}

interface BoundaryRow {
  readonly total: string | number;
  readonly at: string;
}

/**
 * Compares leaves of a rollup with the ledger as it is covered at the watermark `until`, in the
 * snapshot of `reader`. Yields the differences of some leaves at a time, in order.
 */
export async function* compareLeaves(
  reader: Knex.Transaction,
  rollup: Rollup,
  leaves: Leaves,
  boundaries: Boundaries,
  until: string,
): AsyncGenerator<Difference[]> {
  const all: LeafOfKind[] = [
    ...leaves.owners.map((leaf) => ({ leaf, total: false, stored: boundaries.owners })),
    ...leaves.totals.map((leaf) => ({ leaf, total: true, stored: boundaries.totals })),
  ];
  for (let start = 0; start < all.length; start += MAX_LEAVES) {
    yield await compare(reader, rollup, all.slice(start, start + MAX_LEAVES), until);
  }
}

/** A leaf of owners, or of the provider as a whole, and the stored boundaries of that kind. */
interface LeafOfKind {
  readonly leaf: Leaf;
  readonly total: boolean;
  readonly stored: readonly string[];
}

/** A SELECT, with `?` for its bindings. */
interface Branch {
  readonly sql: string;
  readonly bindings: readonly (string | number)[];
}

const COLUMNS = [...SUM_NAMES, ...SUM_NAMES.map((name) => `fresh_${name}` as const)];

/** The names of the sums that are made of the same rows. */
const LEDGER = [...Map.groupBy(SUM_NAMES, (name) => SUMS[name].datedBy).values()];

/** SQL condition, with two `?`: the row was not covered at an earlier watermark. */
const FRESH = {
  charges: "(recorded_at > ? OR charged_at > ?)",
  rentals: "(updated_at > ? OR ended_at > ?)",
} as const;

async function compare(
  reader: Knex.Transaction,
  rollup: Rollup,
  leaves: readonly LeafOfKind[],
  until: string,
): Promise<Difference[]> {
  const branches = leaves.flatMap(({ leaf, total, stored }, nth) => {
    const parts = ledgerBranches(rollup, total, leaf, nth, until);
    const place = stored.findLastIndex((at) => at <= leaf.to);
    if (stored[place] !== leaf.to) return parts;
    parts.push(storedBranch(rollup, total, leaf.to, nth, "-"));
    const before = stored[place - 1];
    if (before !== undefined) parts.push(storedBranch(rollup, total, before, nth, ""));
    return parts;
  });
  const sums = COLUMNS.map((column) => `SUM(${column}) AS ${column}`);
  const differs = COLUMNS.map((column) => `SUM(${column}) <> 0`);
  const [rows] = await reader.raw(
    `SELECT leaf, server_id, instance_id, ${sums.join(", ")}
     FROM (${branches.map(({ sql }) => sql).join(" UNION ALL ")}) AS parts
     GROUP BY leaf, server_id, instance_id HAVING ${differs.join(" OR ")} ORDER BY leaf, server_id, instance_id`,
    branches.flatMap(({ bindings }) => bindings),
  );
  return rows.map((row: Record<string, string>): Difference => {
    const { leaf, total } = leaves[Number(row.leaf)] as LeafOfKind;
    const owner = { server: String(row.server_id), instance: String(row.instance_id) };
    return { leaf, total, ...owner, ...sumsOf(row, ""), fresh: sumsOf(row, "fresh_") };
  });
}

/** The covered rows of a leaf, added up by owner. */
function ledgerBranches(
  { provider, watermark }: Rollup,
  total: boolean,
  { from, to }: Leaf,
  nth: number,
  until: string,
): Branch[] {
  const owner = total ? "0 AS server_id, 0" : "server_id, COALESCE(instance_id, 0)";
  const group = total ? "HAVING COUNT(*) > 0" : "GROUP BY server_id, instance_id";
  return LEDGER.map((own) => {
    const { table, datedBy } = SUMS[own[0] as SumName];
    const sums = (condition?: string) =>
      SUM_NAMES.map((name) => (own.includes(name) ? sumIf(name, condition) : zero(name)));
    const columns = [...sums(), ...sums(FRESH[table])].map(
      (sql, column) => `${sql} AS ${COLUMNS[column]}`,
    );
    const covered = table === "charges" ? chargeCovered("?") : rentalCovered("?");
    // Rows that are dated before the first leaf count as dated in it.
    const after = from === FIRST_INSTANT ? "" : `AND ${datedBy} >= ?`;
    const before = `${datedBy} ${to === LAST_INSTANT ? "<=" : "<"} ?`;
    return {
      sql: `SELECT ${nth} AS leaf, ${owner} AS instance_id, ${columns.join(", ")} FROM ${table}
        WHERE provider_id = ? ${after} AND ${before} AND ${covered} ${group}`,
      bindings: [
        ...own.flatMap(() => [watermark, watermark]),
        provider,
        ...(from === FIRST_INSTANT ? [] : [from]),
        to,
        until,
        until,
      ],
    };
  });
}

/** The sums at a boundary, with a sign. */
function storedBranch(
  { provider, slot }: Rollup,
  total: boolean,
  at: string,
  nth: number,
  sign: "-" | "",
): Branch {
  const columns = [...SUM_NAMES.map((name) => `${sign}${name}`), ...SUM_NAMES.map(zero)];
  return {
    sql: `SELECT ${nth}, server_id, instance_id, ${columns.join(", ")} FROM ${TABLES.sums}
      WHERE provider_id = ? AND format = ${FORMAT} AND slot = ? AND total = ? AND at = ?`,
    bindings: [provider, slot, Number(total), at],
  };
}

/** SQL: what the rows of another table add to a sum. */
function zero(name: SumName): string {
  return SUMS[name].money ? "0.00" : "0";
}

function sumsOf(row: Record<string, string>, prefix: "" | "fresh_"): Sums {
  return sumsFrom((name) => {
    const text = String(row[`${prefix}${name}`]);
    return SUMS[name].money ? parseCents(text) : BigInt(text);
  });
}
