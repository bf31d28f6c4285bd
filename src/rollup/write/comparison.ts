/**
 * Comparing leaves with the ledger: the one function behind refreshes, builds, checks and
 * verification. They differ only in which leaves they compare, and at which watermark.
 */
import type { Knex } from "knex";
import { FIRST_INSTANT } from "../../db/datetime.ts";
import { chargeCovered, rentalCovered } from "../coverage.ts";
import type { Leaf } from "../leaves.ts";
import { type SumsRow, sumsOf } from "../stored-sums.ts";
import {
  isZero,
  SUM_NAMES,
  SUMS,
  type SumName,
  type Sums,
  sumIf,
  sumsFrom,
  zero,
} from "../sums.ts";
import { compareQuarters, type QuarterDifference } from "./increments.ts";
import { type Branch, type Rollup, STORED } from "./state.ts";

/** What the ledger has of an owner in a leaf, and the rollup lacks; negative if it has more. */
export interface Difference extends Sums {
  readonly leaf: Leaf;
  /** The owner: ids of the server and of the instance, "0" for none. */
  readonly server: string;
  readonly instance: string;
  /** The part of it that no row explains which became covered since the rollup's watermark. */
  readonly unexplained: Sums;
}

/** What is compared: some leaves of owners, and the hours of the same time. */
export interface Compared {
  readonly leaves: readonly Leaf[];
  /** Each of whole leaves and whole hours; together they hold the leaves, and no row of others. */
  readonly stretches: readonly Leaf[];
  /** Stretches of the hours with rows that became covered: these alone, if such rows explain all that owners differ by. */
  readonly fresh?: readonly Leaf[] | undefined;
}

/** What differs, of owners or of quarter hours. */
export interface Differences {
  readonly owners: readonly Difference[];
  readonly quarters: readonly QuarterDifference[];
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
  { leaves, stretches, fresh = stretches }: Compared,
  stored: readonly string[],
  until: string,
): AsyncGenerator<Differences> {
  let isExplained = true;
  for (let start = 0; start < leaves.length; start += MAX_LEAVES) {
    const some = leaves.slice(start, start + MAX_LEAVES);
    const owners = await compareOwners(reader, rollup, some, stored, until);
    isExplained &&= owners.every(({ unexplained }) => isZero(unexplained));
    yield { owners, quarters: [] };
  }
  const compared = isExplained ? fresh : stretches;
  for (let start = 0; start < compared.length; start += MAX_LEAVES) {
    const some = compared.slice(start, start + MAX_LEAVES);
    yield { owners: [], quarters: await compareQuarters(reader, rollup, some, until) };
  }
}

/** The columns of sums, and of their parts that became covered since the rollup's watermark: none where it stays. */
const ALL_COLUMNS = [...SUM_NAMES, ...SUM_NAMES.map((name) => `fresh_${name}` as const)];
const columnsFor = ({ watermark }: Rollup, until: string) =>
  until === watermark ? SUM_NAMES : ALL_COLUMNS;
const select = (sqls: readonly string[]) =>
  sqls.map((sql, nth) => `${sql} AS ${ALL_COLUMNS[nth]}`).join(", ");

/** Compares each leaf by owner, in the database: it sends the differences alone. */
async function compareOwners(
  reader: Knex.Transaction,
  rollup: Rollup,
  leaves: readonly Leaf[],
  stored: readonly string[],
  until: string,
): Promise<Difference[]> {
  const columns = columnsFor(rollup, until);
  const storedAt = (at: string, nth: number, sign: "-" | ""): Branch => ({
    sql: `SELECT ${nth}, server_id, instance_id, ${columns.map((_, at) => (SUM_NAMES[at] ? `${sign}${SUM_NAMES[at]}` : "0")).join(", ")}
      FROM ${STORED} AND total = 0 AND at = ?`,
    bindings: [rollup.provider, rollup.slot, at],
  });
  const branches = leaves.flatMap((leaf, nth) => {
    const parts = LEDGER.map((names) => coveredRows(rollup, leaf, nth, names, until));
    const place = stored.findLastIndex((at) => at <= leaf.to);
    if (stored[place] !== leaf.to) return parts;
    parts.push(storedAt(leaf.to, nth, "-"));
    const before = stored[place - 1];
    if (before !== undefined) parts.push(storedAt(before, nth, ""));
    return parts;
  });
  const differs = columns.map((column) => `${column} <> 0`);
  const [rows] = await reader.raw(
    `SELECT leaf, server_id, instance_id, ${select(columns.map((column) => `SUM(${column})`))}
     FROM (${branches.map(({ sql }) => sql).join(" UNION ALL ")}) AS parts
     GROUP BY leaf, server_id, instance_id HAVING ${differs.join(" OR ")} ORDER BY leaf, server_id, instance_id`,
    branches.flatMap(({ bindings }) => bindings),
  );
  return rows.map((row: Row): Difference => {
    const [leaf, sums] = [leaves[Number(row.leaf)] as Leaf, sumsOf(row)];
    const owner = { server: String(row.server_id), instance: String(row.instance_id) };
    return { leaf, ...owner, ...sums, unexplained: unexplainedOf(row, sums) };
  });
}

type Row = SumsRow & Readonly<Record<string, string>>;

/** The names of the sums that are made of the same rows. */
const LEDGER = [...Map.groupBy(SUM_NAMES, (name) => SUMS[name].datedBy).values()];

/** SQL conditions of rows: they are covered, and they were not at an earlier watermark. Each has two `?`. */
const CONDITIONS = {
  charges: { covered: chargeCovered("?"), fresh: "(recorded_at > ? OR charged_at > ?)" },
  rentals: { covered: rentalCovered("?"), fresh: "(updated_at > ? OR ended_at > ?)" },
} as const;

/** What the ledger has of owners in a leaf, of the rows that some sums are made of. */
function coveredRows(
  rollup: Rollup,
  { from, to }: Leaf,
  nth: number,
  own: readonly SumName[],
  until: string,
): Branch {
  const { table, datedBy } = SUMS[own[0] as SumName];
  const { covered, fresh } = CONDITIONS[table];
  const sums = (condition?: string) =>
    SUM_NAMES.map((name) => (own.includes(name) ? sumIf(name, condition) : zero(name)));
  const { provider, watermark } = rollup;
  const isMoving = columnsFor(rollup, until) === ALL_COLUMNS;
  // Rows that are dated before the first leaf count as dated in it.
  const [after, start] = from === FIRST_INSTANT ? ["", []] : [`AND ${datedBy} >= ?`, [from]];
  return {
    sql: `SELECT ${nth} AS leaf, server_id, COALESCE(instance_id, 0) AS instance_id, ${select([...sums(), ...(isMoving ? sums(fresh) : [])])}
      FROM ${table} WHERE provider_id = ? ${after} AND ${datedBy} < ? AND ${covered} GROUP BY server_id, instance_id`,
    bindings: [
      ...(isMoving ? own.flatMap(() => [watermark, watermark]) : []),
      provider,
      ...start,
      to,
      until,
      until,
    ],
  };
}

/** A rental that was written again became covered for the second time, and adds nothing. */
function unexplainedOf(row: Row, sums: Sums): Sums {
  const fresh = sumsOf(
    Object.fromEntries(SUM_NAMES.map((name) => [name, row[`fresh_${name}`]])) as SumsRow,
  );
  return sumsFrom((name) => {
    const added = sums[name];
    if (SUMS[name].table === "charges" || added > fresh[name]) return added - fresh[name];
    return added < 0n ? added : 0n;
  });
}
