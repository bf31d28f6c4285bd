/** What the ledger has in a stretch of time: its covered rows, added up. */
import { FIRST_INSTANT } from "../../db/datetime.ts";
import { chargeCovered, rentalCovered } from "../coverage.ts";
import type { Leaf } from "../leaves.ts";
import { SUM_NAMES, SUMS, type SumName, sumIf, zero } from "../sums.ts";
import type { Rollup } from "./state.ts";

/** A SELECT, with `?` for its bindings. */
export interface Branch {
  readonly sql: string;
  readonly bindings: readonly (string | number)[];
}

/** The columns of sums, and of their parts that became covered since the rollup's watermark. */
export const SUM_COLUMNS = [...SUM_NAMES, ...SUM_NAMES.map((name) => `fresh_${name}` as const)];

/** The names of the sums that are made of the same rows. */
const LEDGER = [...Map.groupBy(SUM_NAMES, (name) => SUMS[name].datedBy).values()];

/** SQL condition, with two `?`: the row was not covered at an earlier watermark. */
const FRESH = {
  charges: "(recorded_at > ? OR charged_at > ?)",
  rentals: "(updated_at > ? OR ended_at > ?)",
} as const;

/** What else a branch selects, and what it groups by, given the column that places its rows on the timeline. */
interface Grouping {
  readonly select: (datedBy: string) => string;
  readonly group: (datedBy: string) => string;
}

/**
 * The covered rows of a stretch of time, added up by group: a query for each column that dates rows.
 *
 * @param until the watermark at which they are covered
 */
export function ledgerBranches(
  { provider, watermark }: Rollup,
  { from, to }: Leaf,
  until: string,
  { select, group }: Grouping,
): Branch[] {
  return LEDGER.map((own) => {
    const { table, datedBy } = SUMS[own[0] as SumName];
    const sums = (condition?: string) =>
      SUM_NAMES.map((name) => (own.includes(name) ? sumIf(name, condition) : zero(name)));
    const columns = [...sums(), ...sums(FRESH[table])].map(
      (sql, column) => `${sql} AS ${SUM_COLUMNS[column]}`,
    );
    const covered = table === "charges" ? chargeCovered("?") : rentalCovered("?");
    // Rows that are dated before the first leaf count as dated in it.
    const after = from === FIRST_INSTANT ? "" : `AND ${datedBy} >= ?`;
    return {
      sql: `SELECT ${select(datedBy)}, ${columns.join(", ")} FROM ${table}
        WHERE provider_id = ? ${after} AND ${datedBy} < ? AND ${covered} GROUP BY ${group(datedBy)}`,
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
