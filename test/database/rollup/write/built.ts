/** Building a provider's rollup at once. */
import type { Knex } from "knex";
import { TABLES } from "../../../../src/rollup/tables.ts";
import { END } from "../../../../src/rollup/timeline.ts";
import { beginBuild, buildSegment } from "../../../../src/rollup/write/build.ts";

/** Builds a provider's rollup up to a watermark, or resumes its build. `size` is in charges. */
export async function build(database: Knex, provider: string, watermark: string, size: number) {
  const begun = await beginBuild(database, provider, watermark);
  for (;;) {
    const step = await buildSegment(database, begun, size);
    if (step === undefined || step.at === END) return;
  }
}

/** A charge of provider 1, as a row of `charges`. */
export function charge(chargedAt: string, recordedAt: string, gross = "1.00", server = 1) {
  return {
    provider_id: 1,
    server_id: server,
    charged_at: chargedAt,
    recorded_at: recordedAt,
    gross,
  };
}

/** The watermark of `buildMonths`. */
export const WATERMARK = "2026-01-20 12:00:00.000";

/** Stores four charges of provider 1 in different months, and builds their rollup. */
export async function buildMonths(database: Knex): Promise<void> {
  const months = ["08", "09", "10", "11"];
  await database("charges").insert(
    months.map((month) => charge(`2025-${month}-05 00:00:00.000`, "2025-12-01 00:00:00.000")),
  );
  await build(database, "1", WATERMARK, 1);
}

/** The watermark of a provider's rollup, and the gross of all charges that it covers. */
export async function rollupOf(database: Knex, provider: string) {
  const { cut: watermark, generation } = await database(TABLES.state)
    .where({ provider_id: provider })
    .first();
  const { gross } = await database(TABLES.checkpoints)
    .where({ provider_id: provider, generation, at: END })
    .first();
  return { watermark, gross };
}
