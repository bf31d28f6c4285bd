/** Building a provider's rollup at once. */
import type { Knex } from "knex";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import type { Length } from "../../../../src/rollup/stretches.ts";
import { beginBuild, buildStep } from "../../../../src/rollup/write/build.ts";
import { refresh } from "../../../../src/rollup/write/refresh.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";

/** Lengths of leaves. */
export const [FIVE_MINUTES, DAY, MONTH] = ["PT5M", "P1D", "P1M"] as const;

/** Begins a build, or a new one, whose leaves have a length. */
export async function begin(
  database: Knex,
  provider: string,
  watermark: string,
  leaf: Length,
): Promise<void> {
  await beginBuild(database, provider, watermark, undefined, true);
  await database(TABLES.rollups).where({ provider_id: provider, building: 1 }).update({ leaf });
}

/** Builds a provider's rollup up to a watermark. */
export async function build(
  database: Knex,
  provider: string,
  watermark: string,
  leaf: Length = DAY,
): Promise<void> {
  await begin(database, provider, watermark, leaf);
  await finish(database, provider, watermark);
}

/** Makes all steps that are left of a build. */
export async function finish(database: Knex, provider: string, watermark: string): Promise<void> {
  for (;;) {
    const step = await buildStep(database, provider, watermark);
    if (step === undefined || step.done) return;
  }
}

/** Moves the watermark of a provider's rollup forward. */
export async function refreshTo(database: Knex, provider: string, until: string): Promise<void> {
  if ((await refresh(database, provider, until)).rebuild) throw new Error("needs a build");
}

/** A charge of provider 1, as a row of `charges`. */
export function charge(charged_at: string, recorded_at: string, gross = "1.00", server_id = 1) {
  return { provider_id: 1, server_id, charged_at, recorded_at, gross };
}

/** A rental of provider 1, as a row of `rentals`. */
export function rental(
  started_at: string,
  ended_at: string | null,
  updated_at: string,
  server_id = 1,
) {
  return { provider_id: 1, server_id, started_at, ended_at, updated_at };
}

/** The differences between provider 1's rollup and the ledger, a line each. */
export function differences(database: Knex): Promise<string[]> {
  return Array.fromAsync(verify(database, "1"));
}

/** The watermark of a provider's rollup, its version, and the gross of all charges that it covers. */
export async function rollupOf(database: Knex, provider: string) {
  const rollup = await database(TABLES.rollups)
    .where({ provider_id: provider, building: 0 })
    .first();
  if (rollup === undefined) return undefined;
  const { watermark, version, slot } = rollup;
  const sums = await database(TABLES.sums)
    .where({ provider_id: provider, slot, total: 1 })
    .orderBy("at", "desc")
    .first();
  return { watermark, version: String(version), gross: sums?.gross ?? "0.00" };
}
