/** The states of providers' rollups: the rows of the table `rollups`. */
import type { Knex } from "knex";
import { NO_GENERATION, type RollupState } from "../coverage.ts";
import type { Stability } from "../stability.ts";
import { TABLES } from "../tables.ts";
import { START } from "../timeline.ts";

/** The state of a provider's rollup. */
export interface State extends RollupState {
  /** Increases with every write to the totals of the current generation. */
  readonly revision: number;
  /** Which totals have not changed for some time, if that is known. */
  readonly stability: Stability | undefined;
  /** Event time from which the next slice of the check begins. */
  readonly checkFrom: string;
  /** When the next slice of the check is due, by the database's clock. */
  readonly checkAt: string;
  /** The build in progress. */
  readonly build: RollupState | undefined;
  /** The database's clock when the state was read; "" if the provider has no row. */
  readonly now: string;
}

/** The state of a provider without a row. */
const NONE: State = {
  ...{ generation: NO_GENERATION, watermark: START, revision: 0, stability: undefined },
  ...{ checkFrom: START, checkAt: START, build: undefined, now: "" },
};

/**
 * Reads the states of providers' rollups, in the order of the providers. A provider without a rollup
 * has `NO_GENERATION`. `lock` locks the rows, in the order of their ids.
 */
export async function readStates(
  database: Knex.Transaction,
  providers: readonly string[],
  lock = false,
): Promise<State[]> {
  const query = database(TABLES.state)
    .select("*", database.raw("UTC_TIMESTAMP(3) AS now"))
    .whereIn("provider_id", [...providers])
    .orderBy("provider_id");
  const rows = await (lock ? query.forUpdate() : query);
  const states = rows.map((row): [string, State] => {
    const { provider_id, generation, cut, build_generation, build_cut, now } = row;
    const build = { generation: String(build_generation), watermark: build_cut };
    const stability: Stability = {
      ...{ before: row.stable_before, sinceWatermark: row.stable_since_cut },
      ...{ since: Number(row.stable_since), until: Number(row.stable_until) },
    };
    const checks = { checkFrom: row.check_from, checkAt: row.check_at };
    return [
      String(provider_id),
      {
        ...{ generation: String(generation), watermark: cut, revision: Number(row.revision) },
        stability: row.stable_before === null ? undefined : stability,
        ...{ ...checks, build: build_generation ? build : undefined, now },
      },
    ];
  });
  const byProvider = new Map(states);
  return providers.map((provider) => byProvider.get(provider) ?? NONE);
}

/** Reads the state of one provider's rollup. */
export async function readState(
  database: Knex.Transaction,
  provider: string,
  lock = false,
): Promise<State> {
  const [state = NONE] = await readStates(database, [provider], lock);
  return state;
}

/** The columns of a rollup's stability. */
export function stabilityColumns({ before, since, sinceWatermark, until }: Stability) {
  return {
    ...{ stable_before: before, stable_since: since },
    ...{ stable_since_cut: sinceWatermark, stable_until: until },
  };
}

/** Sets columns of the states of providers with a row, which the transaction has locked. */
export async function setStates(
  transaction: Knex.Transaction,
  states: readonly Readonly<Record<string, string | number>>[],
): Promise<void> {
  if (states.length > 0) {
    await transaction(TABLES.state).insert(states).onConflict("provider_id").merge();
  }
}
