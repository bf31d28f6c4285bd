/**
 * Whether the rows of a rollup contradict each other. A change writes them in one transaction, so if they do, rows were
 * changed or lost, and the rollup is built anew.
 */
import type { Knex } from "knex";
import { LENGTHS } from "../increments.ts";
import { sumsOf } from "../stored-sums.ts";
import { isBoundary, isLength, type Stretch } from "../stretches.ts";
import {
  CHARGE_NAMES,
  isZero,
  minus,
  NO_SUMS,
  SUM_NAMES,
  SUMS,
  type Sums,
  sumsFrom,
} from "../sums.ts";
import { findWrongIncrements } from "./increments.ts";
import { INCREMENTS, type Rollup, STORED } from "./state.ts";

/** SQL condition: the row is one of the provider as a whole, and not one of an owner that was changed into one. */
const IS_WHOLE = "total = 1 AND server_id = 0 AND instance_id = 0";

/**
 * Whether, of everything covered, the owners together or the days have other sums than the provider as a whole, or the
 * leaves have a length that there is not.
 */
export async function findDamage(
  reader: Knex.Transaction,
  { provider, slot, leaf }: Rollup,
): Promise<boolean> {
  if (!isLength(leaf)) return true;
  const sum = (names: readonly string[], from: string) =>
    `SELECT ${SUM_NAMES.map((name) => `${names.includes(name) ? `COALESCE(SUM(${name}), 0)` : "0"} AS ${name}`).join(", ")} FROM ${from}`;
  const last = (total: 0 | 1) => `(SELECT MAX(at) FROM ${STORED} AND total = ${total})`;
  const [rows] = await reader.raw(
    [
      sum(SUM_NAMES, `${STORED} AND total = 0 AND at = ${last(0)}`),
      sum(SUM_NAMES, `${STORED} AND ${IS_WHOLE} AND at = ${last(1)}`),
      sum(CHARGE_NAMES, `${INCREMENTS} AND length = ${LENGTHS.day} AND part = 0`),
    ].join(" UNION ALL "),
    Array.from({ length: 5 }, () => [provider, slot]).flat(),
  );
  const [owners = NO_SUMS, whole = NO_SUMS, days = NO_SUMS] = rows.map(sumsOf) as Sums[];
  const charges = sumsFrom((name) => (SUMS[name].table === "charges" ? whole[name] : 0n));
  return !isZero(minus(owners, whole)) || !isZero(minus(days, charges));
}

/**
 * What contradicts itself in a stretch of time of whole leaves, a line each.
 *
 * @param stored the boundaries of owners, at least those of the stretch
 */
export async function findContradictions(
  reader: Knex.Transaction,
  rollup: Rollup,
  stored: readonly string[],
  stretch: Stretch,
): Promise<string[]> {
  const { provider, slot, leaf } = rollup;
  const { from, to } = stretch;
  const misplaced = stored.filter((at) => at > from && at <= to && !isBoundary(at, leaf));
  const differs = SUM_NAMES.map(
    (name) => `SUM(CASE WHEN total = 0 THEN ${name} WHEN ${IS_WHOLE} THEN -${name} END) <> 0`,
  );
  // Of no owner, or the row of one that is not the whole.
  const [different] = await reader.raw(
    `SELECT at FROM ${STORED} AND total IN (0, 1) AND at > ? AND at <= ? GROUP BY at
     HAVING MIN(total) = 1 OR MAX(total = 1 AND NOT (${IS_WHOLE})) = 1 OR ${differs.join(" OR ")} ORDER BY at`,
    [provider, slot, from, to],
  );
  return [
    ...misplaced.map((at) => `sums at ${at}, where no leaf ends`),
    ...different.map(({ at }: BoundaryRow) => `the owners and the provider as a whole at ${at}`),
    ...(await findWrongIncrements(reader, rollup, stretch)),
  ];
}

interface BoundaryRow {
  readonly at: string;
}
