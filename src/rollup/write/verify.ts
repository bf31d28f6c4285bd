/** Comparing a provider's rollup with the ledger, in one snapshot. */
import type { Knex } from "knex";
import { formatCents } from "../../db/cents.ts";
import { LEDGER_TABLES, NO_GENERATION } from "../coverage.ts";
import { TABLES } from "../tables.ts";
import { END, START } from "../timeline.ts";
import { compareSegments } from "./ledger/comparison.ts";
import { segmentSize } from "./ledger/segment.ts";
import { sumMonths } from "./ledger/sums.ts";
import { readState, type State } from "./state.ts";
import { readCheckpoints, readMonths, type Version } from "./store.ts";
import { grossOf, minus } from "./totals-by-key.ts";

/** Yields one line of text for each difference; nothing if the provider has no rollup. */
export async function* verify(database: Knex, provider: string): AsyncGenerator<string> {
  const reader = await database.transaction(undefined, { readOnly: true });
  try {
    const state = await readState(reader, provider);
    if (state.generation === NO_GENERATION) return;
    const version = { provider, generation: state.generation };
    const [[{ now }]] = await reader.raw("SELECT UTC_TIMESTAMP(3) AS now");
    if (state.watermark > now) {
      yield `provider ${provider}: the watermark ${state.watermark} lies in the future`;
    }
    yield* verifySegments(reader, version, state);
    yield* verifyMonths(reader, version, state.watermark);
  } finally {
    await reader.rollback();
  }
}

async function* verifySegments(
  reader: Knex.Transaction,
  version: Version,
  state: State,
): AsyncGenerator<string> {
  const { provider } = version;
  const [checkpoints = []] = await readCheckpoints(reader, [version]);
  const size = await segmentSize(reader, provider);
  const touched = checkpoints.map((_, index) => ({ index, tables: LEDGER_TABLES }));
  const scope = { ...version, state, checkpoints, touched, until: state.watermark, size };
  for await (const { segment, index, after, addition, held } of compareSegments(reader, [scope])) {
    const { from, to } = segment;
    const gross = (checkpoints[index]?.gross ?? 0n) - grossOf(after);
    if (gross !== 0n) {
      yield `provider ${provider}, checkpoint ${to}: its gross differs from the sum of its totals by ${formatCents(gross)}`;
    }
    for (const [key, difference] of minus(new Map(), addition)) {
      const [server, instance] = key.split("/");
      yield `provider ${provider}, ${from} to ${to}, server ${server}, instance ${instance}: the rollup differs from the ledger by ${formatCents(difference.gross)} of gross, ${difference.charges} charges, ${difference.started} starts and ${difference.ended} ends of rentals`;
    }
    const { missing, surplus } = held;
    if (missing.length + surplus.length > 0) {
      yield `provider ${provider}, ${from} to ${to}: the list of its rentals lacks ${missing.length} and has ${surplus.length} too many`;
    }
  }
}

async function* verifyMonths(
  reader: Knex.Transaction,
  version: Version,
  watermark: string,
): AsyncGenerator<string> {
  const stored = await readMonths(reader, version);
  const everything = { provider: version.provider, from: START, to: END };
  const [ledger = new Map<number, bigint>()] = await sumMonths(reader, [everything], watermark);
  for (const month of new Set([...stored.keys(), ...ledger.keys()])) {
    const difference = (stored.get(month) ?? 0n) - (ledger.get(month) ?? 0n);
    if (difference !== 0n) {
      yield `provider ${version.provider}, month ${month}: the rollup differs from the ledger by ${formatCents(difference)} of gross`;
    }
  }
}

/** The number of providers with a rollup, and of those without one that have charges or rentals. */
export async function countRollups(
  database: Knex,
): Promise<{ readonly compared: number; readonly missing: number }> {
  const [[row]] = await database.raw(
    `SELECT COUNT(CASE WHEN state.generation > 0 THEN 1 END) AS compared,
            COUNT(CASE WHEN COALESCE(state.generation, 0) = 0 AND (
                EXISTS (SELECT 1 FROM charges WHERE provider_id = provider.id)
                OR EXISTS (SELECT 1 FROM rentals WHERE provider_id = provider.id)
              ) THEN 1 END) AS missing
     FROM providers AS provider LEFT JOIN ${TABLES.state} AS state ON state.provider_id = provider.id`,
  );
  return { compared: Number(row.compared), missing: Number(row.missing) };
}
