/**
 * Whether the rows of a rollup contradict each other. A change writes them in one transaction, so if they do, rows were
 * changed or lost, and the rollup is built anew.
 */
import type { Knex } from "knex";
import { LENGTHS } from "../increments.ts";
import { isBoundary, isLength, type Stretch } from "../stretches.ts";
import { CHARGE_NAMES, SUM_NAMES } from "../sums.ts";
import { type Branch, differing } from "./differing.ts";
import { findWrongIncrements } from "./increments.ts";
import { INCREMENTS, type Rollup, STORED } from "./state.ts";

/** SQL condition: a row of the provider as a whole is not one of an owner that was changed into one. */
const IS_WHOLE = "server_id = 0 AND instance_id = 0";

/** SQL: sums of rows, by the names of all sums. */
const summed = (names: readonly string[], sign = "") =>
  SUM_NAMES.map((name) => (names.includes(name) ? `${sign}SUM(${name})` : "0"))
    .map((sum, nth) => `${sum} AS ${SUM_NAMES[nth]}`)
    .join(", ");

/**
 * Whether, of everything covered, the owners together or the days have other sums than the provider as a whole, or the
 * leaves have a length that there is not.
 */
export async function findDamage(
  reader: Knex.Transaction,
  { provider, slot, leaf }: Rollup,
): Promise<boolean> {
  if (!isLength(leaf)) return true;
  const last = (total: 0 | 1): Branch => ({
    sql: `${STORED} AND total = ${total} AND at = (SELECT MAX(at) FROM ${STORED} AND total = ${total})`,
    bindings: [provider, slot, provider, slot],
  });
  const days = `${INCREMENTS} AND length = ${LENGTHS.day} AND part = 0`;
  const side = (of: string, sums: string, { sql, bindings }: Branch): Branch => ({
    sql: `SELECT '${of}' AS parts, ${sums} FROM ${sql}`,
    bindings,
  });
  const whole = { ...last(1), sql: `${last(1).sql} AND ${IS_WHOLE}` };
  const different = await differing(reader, ["parts"], SUM_NAMES, [
    side("owners", summed(SUM_NAMES), last(0)),
    side("owners", summed(SUM_NAMES, "-"), whole),
    side("days", summed(CHARGE_NAMES), { sql: days, bindings: [provider, slot] }),
    side("days", summed(CHARGE_NAMES, "-"), whole),
  ]);
  return different.length > 0;
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
  const side = (total: 0 | 1, sums: string, wholes: string): Branch => ({
    sql: `SELECT at, ${sums}, ${wholes} AS wholes FROM ${STORED} AND total = ${total} AND at > ? AND at <= ? GROUP BY at`,
    bindings: [provider, slot, from, to],
  });
  // Where there are owners, there is one row of the whole, and the other way round.
  const different = await differing<{ readonly at: string }>(
    reader,
    ["at"],
    [...SUM_NAMES, "wholes"],
    [
      side(0, summed(SUM_NAMES), "1"),
      side(1, summed(SUM_NAMES, "-"), `SUM(CASE WHEN ${IS_WHOLE} THEN -1 ELSE 1 END)`),
    ],
  );
  return [
    ...misplaced.map((at) => `sums at ${at}, where no leaf ends`),
    ...different.map(({ at }) => `the owners and the provider as a whole at ${at}`),
    ...(await findWrongIncrements(reader, rollup, stretch)),
  ];
}
