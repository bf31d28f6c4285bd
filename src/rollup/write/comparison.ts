/**
 * Comparing leaves with the ledger: the one function behind refreshes, builds, checks and
 * verification. They differ only in which leaves they compare, and at which watermark.
 */
import type { Knex } from "knex";
import { earlierOf, FIRST_INSTANT, laterOf } from "../../db/datetime.ts";
import { CHARGES, RENTAL_RAN, RENTALS } from "../coverage.ts";
import { type SumsRow, sumsOf } from "../stored-sums.ts";
import type { Stretch } from "../stretches.ts";
import {
  CHARGE_NAMES,
  NO_SUMS,
  plus,
  SUM_NAMES,
  SUMS,
  type SumName,
  type Sums,
  sumIf,
  sumsFrom,
  zero,
} from "../sums.ts";
import { type Branch, differing } from "./differing.ts";
import { compareQuarters, type QuarterDifference } from "./increments.ts";
import { type Rollup, STORED } from "./state.ts";

/** What the ledger has of an owner in a leaf, and the rollup lacks; negative if it has more. */
export interface Difference extends Sums {
  readonly leaf: Stretch;
  /** The owner: ids of the server and of the instance, "0" for none. */
  readonly server: string;
  readonly instance: string;
  /** The part of it that no row explains which became covered since the rollup's watermark. */
  readonly unexplained: Sums;
}

/** What is compared: some leaves of owners, and the hours of the same time. */
export interface Compared {
  readonly leaves: readonly Stretch[];
  /** Each of whole leaves and whole hours; together they hold the leaves, and no row of others. */
  readonly stretches: readonly Stretch[];
  /** Where rows became covered, for a refresh: if these are all that differs, nothing else is read. */
  readonly fresh?: Fresh | undefined;
}

/** Where rows became covered. */
interface Fresh {
  /** Stretches of whole hours that have such charges. */
  readonly hours: readonly Stretch[];
  /** The boundaries of leaves that have starts or ends of such rentals. */
  readonly rentals: ReadonlySet<string>;
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
  { leaves, stretches, fresh }: Compared,
  stored: readonly string[],
  until: string,
): AsyncGenerator<Differences> {
  const compare = { rollup, stored, until };
  if (fresh) {
    const found = { owners: [] as Difference[], quarters: [] as QuarterDifference[] };
    for (const some of batchesOf(leaves)) {
      found.owners.push(...(await compareOwners(reader, some, { ...compare, fresh })));
    }
    for (const some of batchesOf(fresh.hours)) {
      found.quarters.push(...(await compareQuarters(reader, rollup, some, until)));
    }
    if (isExplained(found)) {
      yield found;
      return;
    }
  }
  for (const some of batchesOf(leaves)) {
    yield { owners: await compareOwners(reader, some, compare), quarters: [] };
  }
  for (const some of batchesOf(stretches)) {
    yield { owners: [], quarters: await compareQuarters(reader, rollup, some, until) };
  }
}

/** Whether what owners have more is what their quarter hours lack together. A charge that was replaced is in no hour again. */
function isExplained({ owners, quarters }: Differences): boolean {
  const [ofOwners, ofHours] = [
    owners.reduce<Sums>(plus, NO_SUMS),
    quarters.map(sumsOf).reduce(plus, NO_SUMS),
  ];
  return CHARGE_NAMES.every((name) => ofOwners[name] === ofHours[name]);
}

/** How owners are compared: with `fresh`, what became covered of charges is added up alone. */
interface Comparison {
  readonly rollup: Rollup;
  readonly stored: readonly string[];
  readonly until: string;
  readonly fresh?: Fresh;
}

/** The parts of a leaf in some stretches. */
const partsOf = (leaf: Stretch, stretches: readonly Stretch[]): Stretch[] =>
  stretches
    .filter(({ from, to }) => from < leaf.to && to > leaf.from)
    .map(({ from, to }) => ({ from: laterOf(from, leaf.from), to: earlierOf(to, leaf.to) }));

/** The columns of sums, and of their parts that became covered since the rollup's watermark: none where it stays. */
const ALL_COLUMNS = [...SUM_NAMES, ...SUM_NAMES.map((name) => `fresh_${name}` as const)];
const columnsFor = ({ watermark }: Rollup, until: string) =>
  until === watermark ? SUM_NAMES : ALL_COLUMNS;
const select = (sqls: readonly string[]) =>
  sqls.map((sql, nth) => `${sql} AS ${ALL_COLUMNS[nth]}`).join(", ");

/** Compares each leaf by owner, in the database: it sends the differences alone. */
async function compareOwners(
  reader: Knex.Transaction,
  leaves: readonly Stretch[],
  comparison: Comparison,
): Promise<Difference[]> {
  const { rollup, stored, until, fresh } = comparison;
  const columns = columnsFor(rollup, until);
  const isAdded = (name: SumName) => fresh !== undefined && SUMS[name].table === "charges";
  const storedAt = (at: string, nth: number, sign: "-" | ""): Branch => ({
    sql: `SELECT ${nth}, server_id, instance_id, ${columns
      .map((_, column) => {
        const name = SUM_NAMES[column];
        return name === undefined || isAdded(name) ? "0" : `${sign}${name}`;
      })
      .join(", ")} FROM ${STORED} AND total = 0 AND at = ?`,
    bindings: [rollup.provider, rollup.slot, at],
  });
  const branches = leaves.flatMap((leaf, nth) => {
    const hasRentals = !fresh || fresh.rentals.has(leaf.to);
    const parts = LEDGER.flatMap((names) => {
      const hours = fresh && isAdded(names[0] as SumName) ? partsOf(leaf, fresh.hours) : undefined;
      return (hours ?? (hasRentals ? [leaf] : [])).map((part) =>
        coveredRows(comparison, part, nth, names),
      );
    });
    const last = stored.findLastIndex((at) => at <= leaf.to);
    if (!hasRentals || stored[last] !== leaf.to) return parts;
    parts.push(storedAt(leaf.to, nth, "-"));
    const before = stored[last - 1];
    if (before !== undefined) parts.push(storedAt(before, nth, ""));
    return parts;
  });
  const rows = await differing<Row>(reader, OWNER, columns, branches);
  return rows.map((row): Difference => {
    const [leaf, sums] = [leaves[Number(row.leaf)] as Stretch, sumsOf(row)];
    const owner = { server: String(row.server_id), instance: String(row.instance_id) };
    return { leaf, ...owner, ...sums, unexplained: unexplainedOf(row, sums) };
  });
}

const OWNER = ["leaf", "server_id", "instance_id"];
type Row = SumsRow & Readonly<Record<string, string>>;

/** The names of the sums that are made of the same rows. */
const LEDGER = [...Map.groupBy(SUM_NAMES, (name) => SUMS[name].datedBy).values()];

/** SQL conditions of rows: they are covered, and they were not at an earlier watermark. Each has two `?`. */
const CONDITIONS = {
  charges: { covered: CHARGES.covered("?"), fresh: CHARGES.uncovered("?") },
  rentals: { covered: `${RENTAL_RAN} AND ${RENTALS.covered("?")}`, fresh: RENTALS.uncovered("?") },
} as const;

/** What the ledger has of owners in a leaf, or in a part of it, of the rows that some sums are made of. */
function coveredRows(
  { rollup, until, fresh: onlyFresh }: Comparison,
  { from, to }: Stretch,
  nth: number,
  own: readonly SumName[],
): Branch {
  const { table, datedBy } = SUMS[own[0] as SumName];
  const { covered, fresh } = CONDITIONS[table];
  const { provider, watermark } = rollup;
  const sums = (condition?: string) =>
    SUM_NAMES.map((name) => (own.includes(name) ? sumIf(name, condition) : zero(name)));
  const since = [watermark, watermark];
  const [also, ofFresh] =
    columnsFor(rollup, until) === SUM_NAMES ? [[], []] : [sums(fresh), own.flatMap(() => since)];
  // Rows that are dated before the first leaf count as dated in it.
  const [after, start] = from === FIRST_INSTANT ? ["", []] : [`AND ${datedBy} >= ?`, [from]];
  const [alone, of] = onlyFresh && table === "charges" ? [`AND ${fresh}`, since] : ["", []];
  return {
    sql: `SELECT ${nth} AS leaf, server_id, COALESCE(instance_id, 0) AS instance_id, ${select([...sums(), ...also])}
      FROM ${table} WHERE provider_id = ? ${after} AND ${datedBy} < ? AND ${covered} ${alone} GROUP BY server_id, instance_id`,
    bindings: [...ofFresh, provider, ...start, to, until, until, ...of],
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
