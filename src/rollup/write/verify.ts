/** Comparing a provider's rollup with the ledger, in one snapshot. */

import type { Knex } from "knex";
import { FIRST_INSTANT, LAST_INSTANT } from "../../db/datetime.ts";
import { isLength } from "../stretches.ts";
import { formatSums, minus, NO_SUMS } from "../sums.ts";
import { readBoundaries } from "./boundaries.ts";
import { compareLeaves } from "./comparison.ts";
import { findContradictions, findDamage } from "./damage.ts";
import { placesOf } from "./repair.ts";
import { nextSlice } from "./slice.ts";
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
    if (!isLength(rollup.leaf)) {
      yield `provider ${provider}: the rollup has leaves of an unknown length, "${rollup.leaf}"`;
      return;
    }
    if (await findDamage(reader, rollup)) {
      yield `provider ${provider}: the rollup's owners, its days and the provider as a whole have other sums`;
    }
    const stored = await readBoundaries(reader, rollup);
    for (let from = FIRST_INSTANT; from !== LAST_INSTANT; ) {
      const { compared, next } = await nextSlice(reader, rollup, stored, from, ROWS);
      for (const line of await findContradictions(reader, rollup, stored, { from, to: next })) {
        yield `provider ${provider}: the rollup contradicts itself: ${line}`;
      }
      for await (const found of compareLeaves(reader, rollup, compared, stored, watermark)) {
        const { owners, wholes } = placesOf(found);
        for (const { from, to, of, sums } of [...owners, ...wholes]) {
          const more = formatSums(minus(NO_SUMS, sums));
          yield `provider ${provider}, ${from} to ${to}, ${of}: the rollup differs from the ledger by ${more}`;
        }
      }
      from = next;
    }
  } finally {
    await reader.rollback();
  }
}
