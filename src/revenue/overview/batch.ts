/**
 * Completes the cached sums of overviews: of several small providers in one statement, if their
 * calls are waiting at the same time.
 *
 * Rows are told apart by `provider_id`, which every row of a provider begins with. Each
 * provider's rows are those that a statement of its own would have read.
 */
import type { Read } from "../../db/query.ts";
import { createBatching } from "../../db/scheduling/batching.ts";
import {
  uncoveredOverview,
  uncoveredOverviews2,
  uncoveredOverviews4,
  uncoveredOverviews8,
} from "./queries.ts";

/** The parameters of one provider's query. */
export type Completing = Parameters<typeof uncoveredOverview.run>[1];
/** The answer to it. */
export type UncoveredResult = Awaited<ReturnType<typeof uncoveredOverview.run>>;

type BatchResult = Awaited<ReturnType<typeof uncoveredOverviews8.run>>;

const STATEMENTS = new Map(
  Object.entries({ 2: uncoveredOverviews2, 4: uncoveredOverviews4, 8: uncoveredOverviews8 }).map(
    ([size, statement]) => [Number(size), statement],
  ),
);

/**
 * Creates the batches of one process. Their function reads one provider's rows; it rejects with a
 * `ServiceError`, as `Read` does.
 */
export function createOverviewBatches(read: Read) {
  return createBatching<Completing, UncoveredResult>({
    sizes: [...STATEMENTS.keys()],
    keyOf: ({ provider }) => provider,
    alone: (values, signal) =>
      uncoveredOverview.run(read, values, { signal, owner: values.provider }),
    async together(items, how) {
      const statement = STATEMENTS.get(items.length);
      if (statement === undefined) throw new Error(`no statement for ${items.length} providers`);
      const values: Record<string, string> = {};
      for (const [place, item] of items.entries()) {
        for (const [name, value] of Object.entries(item)) values[`${name}${place}`] = value;
      }
      // Each statement takes a share of the connections of its own, as its providers would alone.
      const owner = `overviews with ${items[0]?.provider}`;
      return split(items, await statement.run(read, values, { ...how, owner }));
    },
  });
}

/** Gives each provider its own rows, under the names that a statement of its own would have. */
function split(items: readonly Completing[], { rows, asOf }: BatchResult): UncoveredResult[] {
  const { snapshot, ...shared } = rows;
  const now = snapshot[0]?.now ?? "";
  const finders = Object.entries(shared).map(
    ([name, found]) => [name, byProvider(found as readonly OwnedRow[])] as const,
  );
  return items.map(({ provider }, place) => {
    const own = Object.fromEntries(finders.map(([name, find]) => [name, find(provider)]));
    const state = [{ ...(own.state?.[0] ?? NO_ROLLUP), now }];
    const payouts = own[`payouts${place}`];
    return { asOf, rows: { ...own, state, payouts } as unknown as UncoveredResult["rows"] };
  });
}

interface OwnedRow {
  readonly provider: string;
}

/** What aggregates over no row return. */
const NO_ROLLUP = { version: "", watermark: "", leaf: "", ahead: "" };

/** Finds the rows of a provider. */
function byProvider(rows: readonly OwnedRow[]): (provider: string) => readonly OwnedRow[] {
  const groups = Map.groupBy(rows, ({ provider }) => provider);
  return (provider) => groups.get(provider) ?? [];
}
