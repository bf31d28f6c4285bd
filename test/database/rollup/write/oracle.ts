/** What a rollup should have stored, added up in the test from the rows of the ledger. */
import type { Knex } from "knex";
import { expect } from "vitest";
import { instantOf, toDatetime } from "../../../../src/db/datetime.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { type LeafLength, leafAt } from "../../../../src/rollup/leaves.ts";
import { SUM_NAMES } from "../../../../src/rollup/sums.ts";

/** Sums by kind of owner, boundary and owner: "owners 2026-01-02 00:00:00.000 1/0". */
type Stored = Record<string, string>;

/** Expects the current rollup of a provider to have the sums of its ledger, and no other row. */
export async function expectStored(database: Knex, provider = "1"): Promise<void> {
  expect(SUM_NAMES, "what this compares").toEqual([
    "gross",
    "charges",
    "started",
    "ended",
    "refunds",
    "started_ms",
    "ended_ms",
  ]);
  await database.transaction(async (reader) => {
    const rollup = await reader(TABLES.rollups)
      .where({ provider_id: provider, building: 0 })
      .first();
    const rows = await reader(TABLES.sums).where({ provider_id: provider, slot: rollup.slot });
    const stored: Stored = {};
    for (const { total, at, server_id, instance_id, ...sums } of rows) {
      const key = `${Number(total) === 1 ? "total" : "owners"} ${at} ${server_id}/${instance_id}`;
      const { gross, charges, started, ended, refunds, started_ms, ended_ms } = sums;
      const counts = [charges, started, ended, started_ms, ended_ms];
      stored[key] = [cents(gross), cents(refunds), ...counts].join(" ");
    }
    expect(stored).toEqual(await expected(reader, provider, rollup));
  });
}

/** A row of the ledger at its event time. */
interface Event {
  readonly at: string;
  readonly owner: string;
  /** Gross and refunds in cents, charges, starts, ends, ms of starts, ms of ends. */
  readonly sums: readonly bigint[];
}

async function expected(
  reader: Knex.Transaction,
  provider: string,
  { watermark = "", leaf = "", total_leaf }: Record<string, string>,
): Promise<Stored> {
  const events: Event[] = [];
  const of = (table: string) => reader(table).where({ provider_id: provider });
  const ownerOf = (row: Record<string, string>) => `${row.server_id}/${row.instance_id ?? 0}`;
  for (const row of await of("charges")) {
    if (row.recorded_at > watermark || row.charged_at > watermark) continue;
    const gross = cents(row.gross);
    const sums = [gross, gross < 0n ? gross : 0n, 1n, 0n, 0n, 0n, 0n];
    events.push({ at: row.charged_at, owner: ownerOf(row), sums });
  }
  for (const row of await of("rentals")) {
    const { started_at, ended_at, updated_at } = row;
    if (ended_at === null || ended_at < started_at) continue;
    if (updated_at > watermark || ended_at > watermark) continue;
    events.push({
      at: started_at,
      owner: ownerOf(row),
      sums: [0n, 0n, 0n, 1n, 0n, ms(started_at), 0n],
    });
    events.push({
      at: ended_at,
      owner: ownerOf(row),
      sums: [0n, 0n, 0n, 0n, 1n, 0n, ms(ended_at)],
    });
  }
  const total = events.map((event) => ({ ...event, owner: "0/0" }));
  const endsOf = (at: string) => {
    const day = leafAt(at, "P1D");
    const ends = [day.to, leafAt(at, "P1M").to];
    // A leaf of a day is made of whole leaves that are shorter, and of the provider as a whole none is longer.
    if (leaf.startsWith("PT")) ends.push(leafAt(at, leaf as LeafLength).to);
    if (total_leaf !== "PT15M") return ends;
    // All quarter hours of the day and of the two after it.
    const start = Date.parse(`${day.from.replace(" ", "T")}Z`);
    return [
      ...ends,
      ...Array.from({ length: 3 * 96 }, (_, n) => toDatetime(start + (n + 1) * 900_000)),
    ];
  };
  return {
    ...running("owners", events, (at) => [leafAt(at, leaf as LeafLength).to]),
    ...running("total", total, endsOf),
  };
}

/** The running sums at the boundaries of each event, the earliest of which is the first that has it. */
function running(
  kind: string,
  events: readonly Event[],
  boundariesOf: (at: string) => readonly string[],
): Stored {
  const endsOf = ({ at }: Event) => boundariesOf(at).toSorted();
  const sums = new Map<string, readonly bigint[]>();
  // The first quarter hours of the first day have nothing before them.
  if (kind === "total" && events.length > 0)
    sums.set(
      "0/0",
      SUM_NAMES.map(() => 0n),
    );
  const stored: Stored = {};
  const left = events.map((event) => {
    // An instant that does not exist sorts after the one that it counts at.
    const at = toDatetime(instantOf(event.at));
    return { ...event, end: endsOf(event).find((end) => end > at) ?? "" };
  });
  left.sort((one, other) => (one.end < other.end ? -1 : 1));
  let next = 0;
  for (const boundary of [...new Set(events.flatMap(endsOf))].sort()) {
    for (; (left[next]?.end ?? "~") <= boundary; next++) {
      const { owner, sums: added } = left[next] as Event;
      const before = sums.get(owner);
      sums.set(
        owner,
        added.map((count, nth) => count + (before?.[nth] ?? 0n)),
      );
    }
    for (const [owner, each] of sums) stored[`${kind} ${boundary} ${owner}`] = each.join(" ");
  }
  return stored;
}

const FIRST = Date.parse("0001-01-01T00:00:00Z");
/** The ms from the first instant to the one that a date counts at. */
const ms = (date: string) => BigInt(instantOf(date) - FIRST);
const cents = (decimal: string) => BigInt(decimal.replace(".", ""));
