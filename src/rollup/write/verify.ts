/** Comparing a provider's rollup with the ledger, in one snapshot. */
import type { Knex } from "knex";
import { formatCents } from "../../db/cents.ts";
import { NO_GENERATION } from "../coverage.ts";
import { START } from "../timeline.ts";
import { sumMonths, sumSegment } from "./ledger.ts";
import { readCheckpoints, readMonths, readState, readTotals, type Version } from "./store.ts";
import { grossOf, minus } from "./totals-by-key.ts";

/** Yields one line of text for each difference; nothing if the provider has no rollup. */
export async function* verify(database: Knex, provider: string): AsyncGenerator<string> {
  const reader = await database.transaction(undefined, { readOnly: true });
  try {
    const state = await readState(reader, provider);
    if (state.generation === NO_GENERATION) return;
    const version = { provider, generation: state.generation };
    yield* verifySegments(reader, version, state.watermark);
    yield* verifyMonths(reader, version, state.watermark);
  } finally {
    await reader.rollback();
  }
}

async function* verifySegments(
  reader: Knex.Transaction,
  version: Version,
  watermark: string,
): AsyncGenerator<string> {
  const { provider } = version;
  let from = START;
  let before = await readTotals(reader, version, START);
  for (const { at: to, gross } of await readCheckpoints(reader, version)) {
    const totals = await readTotals(reader, version, to);
    if (gross !== grossOf(totals)) {
      yield `provider ${provider}, checkpoint ${to}: its gross differs from the sum of its totals by ${formatCents(gross - grossOf(totals))}`;
    }
    const ledger = await sumSegment(reader, { provider, from, to }, watermark);
    for (const [key, difference] of minus(minus(totals, before), ledger)) {
      const [server, instance] = key.split("/");
      yield `provider ${provider}, ${from} to ${to}, server ${server}, instance ${instance}: the rollup differs from the ledger by ${formatCents(difference.gross)} of gross, ${difference.charges} charges, ${difference.started} starts and ${difference.ended} ends of rentals`;
    }
    [from, before] = [to, totals];
  }
}

async function* verifyMonths(
  reader: Knex.Transaction,
  version: Version,
  watermark: string,
): AsyncGenerator<string> {
  const stored = await readMonths(reader, version);
  const ledger = await sumMonths(reader, version.provider, watermark);
  for (const month of new Set([...stored.keys(), ...ledger.keys()])) {
    const difference = (stored.get(month) ?? 0n) - (ledger.get(month) ?? 0n);
    if (difference !== 0n) {
      yield `provider ${version.provider}, month ${month}: the rollup differs from the ledger by ${formatCents(difference)} of gross`;
    }
  }
}
