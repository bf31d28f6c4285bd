/** Comparing a provider's rollup with the ledger, in one snapshot. */

import type { Knex } from "knex";
import { FIRST_INSTANT, LAST_INSTANT } from "../../db/datetime.ts";
import { TABLES } from "../coverage.ts";
import { areLengths } from "../leaves.ts";
import { MIN_ROWS } from "../size.ts";
import { FORMAT, formatSums, sumsFrom } from "../sums.ts";
import { isDamaged, misplacedBoundary, readBoundaries, readStored } from "./boundaries.ts";
import { compareLeaves } from "./comparison.ts";
import { readClock } from "./run/clock.ts";
import { readPages } from "./run/pages.ts";
import { withMinRows } from "./run/size.ts";
import { nextSlice } from "./spans.ts";
import { REPEATABLE_READ, readRollups } from "./state.ts";

/** The number of charges, starts or ends of rentals that are compared at a time, about. */
const ROWS = 20_000;

/** Yields one line of text for each difference; nothing if the provider has no rollup. */
export async function* verify(database: Knex, provider: string): AsyncGenerator<string> {
  const reader = await database.transaction(undefined, REPEATABLE_READ);
  try {
    const { current: rollup } = await readRollups(reader, provider);
    if (rollup === undefined) return;
    const { watermark, now } = rollup;
    if (watermark > now) {
      yield `provider ${provider}: the watermark ${watermark} lies in the future`;
    }
    if (!areLengths(rollup)) {
      yield `provider ${provider}: the rollup has leaves of an unknown length, "${rollup.leaf}" and "${rollup.totalLeaf}"`;
      return;
    }
    const boundaries = await readBoundaries(reader, rollup);
    const whole = { from: FIRST_INSTANT, to: LAST_INSTANT };
    const stored = await readStored(reader, rollup, boundaries, [whole]);
    const misplaced = misplacedBoundary(stored, rollup);
    if (misplaced !== undefined) {
      yield `provider ${provider}: the rollup ${misplaced}`;
    }
    if (await isDamaged(reader, rollup)) {
      yield `provider ${provider}: the sums of the rollup's owners and of the provider as a whole differ`;
    }
    for (let from = FIRST_INSTANT; from !== LAST_INSTANT; ) {
      const { compared, next } = await nextSlice(reader, rollup, boundaries, from, ROWS);
      for await (const found of compareLeaves(reader, rollup, compared, stored, watermark)) {
        for (const difference of found) {
          const { total, leaf, server, instance } = difference;
          const owner = total ? "as a whole" : `server ${server}, instance ${instance}`;
          yield `provider ${provider}, ${leaf.from} to ${leaf.to}, ${owner}: the rollup differs from the ledger by ${formatSums(sumsFrom((name) => -difference[name]))}`;
        }
      }
      from = next;
    }
  } finally {
    await reader.rollback();
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
