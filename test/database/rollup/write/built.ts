/** A provider's rollup, built in one go. */
import type { Knex } from "knex";
import { END } from "../../../../src/rollup/timeline.ts";
import { beginBuild, buildSegment } from "../../../../src/rollup/write/build.ts";

/** Builds a provider's rollup up to a watermark, with so many charges between two checkpoints. */
export async function build(database: Knex, provider: string, watermark: string, size: number) {
  const begun = await beginBuild(database, provider, watermark);
  for (;;) {
    const step = await buildSegment(database, begun, size);
    if (step === undefined || step.at === END) return;
  }
}

/** A charge of provider 1, in the database's own words. */
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

/** Four charges of provider 1, each in a month of its own, and a rollup of them with the watermark `WATERMARK`. */
export async function buildMonths(database: Knex): Promise<void> {
  const months = ["08", "09", "10", "11"];
  await database("charges").insert(
    months.map((month) => charge(`2025-${month}-05 00:00:00.000`, "2025-12-01 00:00:00.000")),
  );
  await build(database, "1", WATERMARK, 1);
}

/** What a provider's rollup says that it took in all, and its watermark. */
export async function rollupOf(database: Knex, provider: string) {
  const { watermark, generation } = await database("rollups")
    .where({ provider_id: provider })
    .first();
  const total = await database("rollup_checkpoints")
    .where({ provider_id: provider, generation, at: END })
    .first();
  return { watermark, gross: total.gross };
}
