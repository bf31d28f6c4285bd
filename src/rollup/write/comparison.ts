/**
 * Comparing leaves with the ledger: the one function behind refreshes, builds, checks and
 * verification. They differ only in which leaves they compare, and at which watermark.
 */
import type { Knex } from "knex";
import { earlierOf, FIRST_INSTANT, laterOf } from "../../db/datetime.ts";
import { CHARGES, RENTAL_RAN, RENTALS } from "../coverage.ts";
import { type SumsRow, sumsOf } from "../stored-sums.ts";
import type { Stretch } from "../stretches.ts";
import { CHARGE_NAMES, SUM_NAMES, SUMS, type SumName, type Sums, sumOf, zero } from "../sums.ts";
import { type Branch, differing } from "./differing.ts";
import { compareQuarters, type QuarterDifference } from "./increments.ts";
import { type Rollup, STORED } from "./state.ts";

/** What the ledger has of an owner in a leaf, and the rollup lacks; negative if it has more. */
export interface Difference extends Sums {
  readonly leaf: Stretch;
  /** The owner: ids of the server and of the instance, "0" for none. */
  readonly server: string;
  readonly instance: string;
}

/** What is compared: some leaves of owners, and the hours of the same time. */
export interface Compared {
  readonly leaves: readonly Stretch[];
  /** Which of their sums. Default: all. */
  readonly names?: readonly SumName[];
  /** Leaves of which the charges in `stretches` that became covered since the rollup's watermark are added, unseen. */
  readonly added?: readonly Stretch[];
  /** Each of whole hours. Those of whole leaves hold all leaves together, and no row of others. */
  readonly stretches: readonly Stretch[];
}

/** What differs, of owners and of quarter hours. */
export interface Differences {
  readonly owners: readonly Difference[];
  readonly quarters: readonly QuarterDifference[];
}

/** The maximum number of leaves, or of stretches, that one statement compares. */
const MAX_LEAVES = 64;
const batchesOf = (leaves: readonly Stretch[]) =>
  Array.from({ length: Math.ceil(leaves.length / MAX_LEAVES) }, (_, nth) =>
    leaves.slice(nth * MAX_LEAVES, (nth + 1) * MAX_LEAVES),
  );

/**
 * Compares leaves of a rollup with the ledger as it is covered at the watermark `until`, in the
 * snapshot of `reader`. Yields the differences of some leaves at a time, then those of quarter hours.
 *
 * @param stored the boundaries that are stored near the leaves, in order
 */
export async function* compareLeaves(
  reader: Knex.Transaction,
  rollup: Rollup,
  { leaves, names = SUM_NAMES, added = [], stretches }: Compared,
  stored: readonly string[],
  until: string,
): AsyncGenerator<Differences> {
  for (const some of batchesOf(leaves)) {
    const branches = some.flatMap((leaf, nth) => [
      ...coveredRows(rollup, leaf, nth, names, until),
      ...storedRows(rollup, leaf, nth, names, stored),
    ]);
    yield { owners: await differingOwners(reader, some, names, branches), quarters: [] };
  }
  for (const some of batchesOf(added)) {
    const branches = some.flatMap((leaf, nth) =>
      partsOf(leaf, stretches).flatMap((part) =>
        coveredRows(rollup, part, nth, CHARGE_NAMES, until, true),
      ),
    );
    yield { owners: await differingOwners(reader, some, CHARGE_NAMES, branches), quarters: [] };
  }
  for (const some of batchesOf(stretches)) {
    yield { owners: [], quarters: await compareQuarters(reader, rollup, some, until) };
  }
}

/** The parts of a leaf in some stretches. */
const partsOf = (leaf: Stretch, stretches: readonly Stretch[]): Stretch[] =>
  stretches
    .filter(({ from, to }) => from < leaf.to && to > leaf.from)
    .map(({ from, to }) => ({ from: laterOf(from, leaf.from), to: earlierOf(to, leaf.to) }));

const OWNER = ["leaf", "server_id", "instance_id"];
type Row = SumsRow & Readonly<Record<(typeof OWNER)[number], string>>;

/** Adds up rows by leaf and owner, in the database: it sends the differences alone. */
async function differingOwners(
  reader: Knex.Transaction,
  leaves: readonly Stretch[],
  names: readonly SumName[],
  branches: readonly Branch[],
): Promise<Difference[]> {
  const rows = await differing<Row>(reader, OWNER, names, branches);
  return rows.map((row) => {
    const owner = { server: String(row.server_id), instance: String(row.instance_id) };
    return { leaf: leaves[Number(row.leaf)] as Stretch, ...owner, ...sumsOf(row) };
  });
}

/** SQL conditions of covered rows. Each has two `?`. */
const COVERED = {
  charges: CHARGES.covered("?"),
  rentals: `${RENTAL_RAN} AND ${RENTALS.covered("?")}`,
} as const;

/**
 * What the ledger has of owners in a leaf, or in a part of it, of some sums: a SELECT for each column that dates rows.
 *
 * @param onlyFresh whether to add up only charges that are not covered at the rollup's watermark
 */
function coveredRows(
  { provider, watermark }: Rollup,
  { from, to }: Stretch,
  nth: number,
  names: readonly SumName[],
  until: string,
  onlyFresh = false,
): Branch[] {
  const [fresh, since] = onlyFresh
    ? [`AND ${CHARGES.uncovered("?")}`, [watermark, watermark]]
    : ["", []];
  return [...Map.groupBy(names, (name) => SUMS[name].datedBy)].map(([datedBy, own]) => {
    const { table } = SUMS[own[0] as SumName];
    const sums = names.map((name) => `${own.includes(name) ? sumOf(name) : zero(name)} AS ${name}`);
    // Rows that are dated before the first leaf count as dated in it.
    const [after, start] = from === FIRST_INSTANT ? ["", []] : [`AND ${datedBy} >= ?`, [from]];
    return {
      sql: `SELECT ${nth} AS leaf, server_id, COALESCE(instance_id, 0) AS instance_id, ${sums.join(", ")}
        FROM ${table} WHERE provider_id = ? ${after} AND ${datedBy} < ? AND ${COVERED[table]} ${fresh}
        GROUP BY server_id, instance_id`,
      bindings: [provider, ...start, to, until, until, ...since],
    };
  });
}

/** What the rollup has of owners in a leaf, negated: the sums at its boundary less those at the one before. */
function storedRows(
  { provider, slot }: Rollup,
  leaf: Stretch,
  nth: number,
  names: readonly SumName[],
  stored: readonly string[],
): Branch[] {
  const last = stored.findLastIndex((at) => at <= leaf.to);
  if (stored[last] !== leaf.to) return [];
  const sumsAt = (at: string, sign: string): Branch => ({
    sql: `SELECT ${nth}, server_id, instance_id, ${names.map((name) => sign + name).join(", ")}
      FROM ${STORED} AND total = 0 AND at = ?`,
    bindings: [provider, slot, at],
  });
  const before = stored[last - 1];
  return [sumsAt(leaf.to, "-"), ...(before === undefined ? [] : [sumsAt(before, "")])];
}
