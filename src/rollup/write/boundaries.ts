/** The stored boundaries of a rollup. */

import type { Knex } from "knex";
import { FIRST_INSTANT } from "../../db/datetime.ts";
import { type Rollup, STORED } from "./state.ts";

/**
 * Reads the stored boundaries of a rollup from an event time on, and the last one before it. There is one
 * for each leaf with rows, so a build that read all of them in each step would take ever longer steps.
 */
export async function readBoundaries(
  reader: Knex.Transaction,
  { provider, slot }: Rollup,
  from: string = FIRST_INSTANT,
): Promise<string[]> {
  const [rows] = await reader.raw(
    // Grouped by all columns of the index up to `at`, the server can skip from one boundary to the next. It does once
    // its statistics say that boundaries have many rows: those of a table that is being filled do not.
    `SELECT provider_id, format, slot, total, at FROM ${STORED} AND total = 0
       AND at >= COALESCE((SELECT MAX(at) FROM ${STORED} AND total = 0 AND at < ?), ?)
     GROUP BY provider_id, format, slot, total, at ORDER BY provider_id, format, slot, total, at`,
    [provider, slot, provider, slot, from, from],
  );
  return rows.map(({ at }: { readonly at: string }) => at);
}
