/** Comparing a provider's rollup with the ledger, in one snapshot. */

import type { Knex } from "knex";
import { FIRST_INSTANT, LAST_INSTANT, toDatetime } from "../../db/datetime.ts";
import { TABLES } from "../coverage.ts";
import { isLength, type Leaf, leafAt, QUARTER } from "../leaves.ts";
import { MIN_ROWS } from "../size.ts";
import { FORMAT, formatSums, type Sums, sumsFrom } from "../sums.ts";
import { areMisplaced, compareTotals, findDamage, readBoundaries } from "./boundaries.ts";
import { compareLeaves } from "./comparison.ts";
import { compareIncrements, daysDiffer } from "./increments.ts";
import { readClock } from "./run/clock.ts";
import { readPages } from "./run/pages.ts";
import { withMinRows } from "./run/size.ts";
import { nextSlice } from "./slice.ts";
import { REPEATABLE_READ, type Rollup, readRollups } from "./state.ts";

/** The number of charges, starts or ends of rentals that are compared at a time, about. */
const ROWS = 20_000;

/** Yields one line of text for each difference; nothing if the provider has no rollup. */
export async function* verify(database: Knex, provider: string): AsyncGenerator<string> {
  const describe = ({ from, to }: Leaf, of: string, sums: Sums) =>
    `provider ${provider}, ${from} to ${to}, ${of}: the rollup differs from the ledger by ${formatSums(sumsFrom((name) => -sums[name]))}`;
  const reader = await database.transaction(undefined, REPEATABLE_READ);
  try {
    const { current: rollup } = await readRollups(reader, provider);
    if (rollup === undefined) return;
    const { watermark, now } = rollup;
    if (watermark > now) {
      yield `provider ${provider}: the watermark ${watermark} lies in the future`;
    }
    if (!isLength(rollup.leaf)) {
      yield `provider ${provider}: the rollup has leaves of an unknown length, "${rollup.leaf}"`;
      return;
    }
    const boundaries = await readBoundaries(reader, rollup);
    if (areMisplaced(boundaries, rollup))
      yield `provider ${provider}: the rollup has sums where no leaf ends`;
    yield* contradictions(reader, rollup);
    for (let from = FIRST_INSTANT; from !== LAST_INSTANT; ) {
      const { compared, next } = await nextSlice(reader, rollup, boundaries, from, ROWS);
      const all = compareLeaves(reader, rollup, compared, boundaries.stored, watermark);
      for await (const { owners, quarters } of all) {
        for (const difference of owners) {
          const { leaf, server, instance } = difference;
          yield describe(leaf, `server ${server}, instance ${instance}`, difference);
        }
        for (const difference of quarters) {
          const quarter = leafAt(toDatetime(difference.start), QUARTER.length);
          yield describe(quarter, "as a whole", difference);
        }
      }
      from = next;
    }
  } finally {
    await reader.rollback();
  }
}

/** Yields a line of text for what contradicts itself in a rollup. */
async function* contradictions(reader: Knex.Transaction, rollup: Rollup): AsyncGenerator<string> {
  const all = { from: FIRST_INSTANT, to: LAST_INSTANT };
  const of = `provider ${rollup.provider}: the rollup`;
  const totals = await compareTotals(reader, rollup, all);
  if (totals === "misplaced")
    yield `${of} has sums of the provider as a whole where its owners have none`;
  else {
    for (const { at, ...sums } of totals) {
      yield `${of}'s owners differ from the provider as a whole at ${at} by ${formatSums(sums)}`;
    }
  }
  for (const { length, start, ...sums } of await compareIncrements(reader, rollup, all)) {
    yield `${of}'s quarter hours differ from the ${length} minutes of ${toDatetime(start)} by ${formatSums(sums)}`;
  }
  if ((await findDamage(reader, rollup)) || (await daysDiffer(reader, rollup))) {
    yield `${of}'s owners, its days and the provider as a whole have other sums`;
  }
}

/**
 * The number of providers with a rollup, and of those that should have one.
 *
 * @param margin how old the rows are at least that make a provider large, in ms
 */
export async function countRollups(
  database: Knex,
  providers: readonly string[],
  margin: number,
): Promise<{ readonly compared: number; readonly missing: number }> {
  const built = await readPages<{ readonly provider_id: string | number }>((after) =>
    database(TABLES.rollups)
      .where({ format: FORMAT, building: 0 })
      .where((where) => after && where.where("provider_id", ">", after.provider_id))
      .orderBy("provider_id")
      .select("provider_id"),
  );
  const ids = new Set(built.map(({ provider_id }) => String(provider_id)));
  const without = providers.filter((provider) => !ids.has(provider));
  const { until } = await readClock(database, margin, false);
  const missing = await withMinRows(database, without, until, MIN_ROWS);
  return { compared: providers.length - without.length, missing: missing.size };
}
