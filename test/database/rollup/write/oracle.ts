/**
 * What a rollup should have stored, added up in the test from the rows of the ledger. Leaves, quarter hours and days are
 * worked out here a second time.
 */
import type { Knex } from "knex";
import { expect } from "vitest";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { SUM_NAMES } from "../../../../src/rollup/sums.ts";
import { instantAt } from "../../../support/ledger/store.ts";

/** Sums by kind, place and owner: "owners 2026-01-02 00:00:00.000 1/0", "60 1 2026-01-02 09:00:00.000". */
type Stored = Record<string, string>;

/** Expects the current rollup of a provider to have the sums and increments of its ledger, and no other row. */
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
    const own = { provider_id: provider, format: rollup.format, slot: rollup.slot };
    const stored: Stored = {};
    for (const { total, at, server_id, instance_id, ...sums } of await reader(TABLES.sums).where(
      own,
    )) {
      const key = `${Number(total) === 1 ? "total" : "owners"} ${at} ${server_id}/${instance_id}`;
      const { gross, charges, started, ended, refunds, started_ms, ended_ms } = sums;
      const counts = [charges, started, ended, started_ms, ended_ms];
      stored[key] = [cents(gross), cents(refunds), ...counts].join(" ");
    }
    for (const row of await reader(TABLES.increments).where(own)) {
      const sums = ["", "_1", "_2", "_3", "_4"].map((quarter) => {
        const [gross, refunds, charges] = [
          row[`gross${quarter}`],
          row[`refunds${quarter}`],
          row[`charges${quarter}`],
        ];
        return charges === null ? "none" : [cents(gross), cents(refunds), charges].join(" ");
      });
      stored[`${row.length} ${row.part} ${row.at}`] = sums.join(", ");
    }
    expect(stored).toEqual(await expected(reader, provider, rollup));
  });
}

/** A row of the ledger at its event time, in epoch ms. */
interface Event {
  readonly at: number;
  readonly owner: string;
  /** Gross and refunds in cents, charges, starts, ends, ms of starts, ms of ends. */
  readonly sums: readonly bigint[];
}

async function expected(
  reader: Knex.Transaction,
  provider: string,
  { watermark = "", leaf = "" }: Record<string, string>,
): Promise<Stored> {
  const events: Event[] = [];
  const of = (table: string) => reader(table).where({ provider_id: provider });
  const ownerOf = (row: Record<string, string>) => `${row.server_id}/${row.instance_id ?? 0}`;
  for (const row of await of("charges")) {
    if (row.recorded_at > watermark || row.charged_at > watermark) continue;
    const gross = cents(row.gross);
    const sums = [gross, gross < 0n ? gross : 0n, 1n, 0n, 0n, 0n, 0n];
    events.push({ at: instantAt(row.charged_at), owner: ownerOf(row), sums });
  }
  const charges = [...events];
  for (const row of await of("rentals")) {
    const { started_at, ended_at, updated_at } = row;
    if (ended_at === null || ended_at < started_at) continue;
    if (updated_at > watermark || ended_at > watermark) continue;
    const [started, ended] = [instantAt(started_at), instantAt(ended_at)];
    const owner = ownerOf(row);
    events.push({ at: started, owner, sums: [0n, 0n, 0n, 1n, 0n, ms(started), 0n] });
    events.push({ at: ended, owner, sums: [0n, 0n, 0n, 0n, 1n, 0n, ms(ended)] });
  }
  const total = events.map((event) => ({ ...event, owner: "0/0" }));
  return {
    ...running("owners", events, leaf),
    ...running("total", total, leaf),
    ...increments(charges, 60),
    ...increments(charges, 1_440),
    ...increments(charges, 43_200),
  };
}

const plus = (one: readonly bigint[], other: readonly bigint[] = []) =>
  one.map((count, nth) => count + (other[nth] ?? 0n));

/** The running sums at the end of each leaf with an event. */
function running(kind: string, events: readonly Event[], leaf: string): Stored {
  const byEnd = Map.groupBy(events, ({ at }) => endOfLeaf(at, leaf));
  const sums = new Map<string, readonly bigint[]>();
  const stored: Stored = {};
  for (const end of [...byEnd.keys()].sort((one, other) => one - other)) {
    for (const { owner, sums: added } of byEnd.get(end) ?? []) {
      sums.set(owner, plus(added, sums.get(owner)));
    }
    for (const [owner, each] of sums) stored[`${kind} ${text(end)} ${owner}`] = each.join(" ");
  }
  return stored;
}

/** Gross, refunds and number of the charges in each stretch of so many minutes, by its start; 43,200 are a month. */
function inStretches(charges: readonly Event[], minutes: number) {
  const sums = new Map<number, readonly bigint[]>();
  for (const { at, sums: added } of charges) {
    const date = new Date(at);
    const start =
      minutes === 43_200
        ? firstOf(date.getUTCFullYear(), date.getUTCMonth())
        : Math.floor(at / (minutes * 60_000)) * minutes * 60_000;
    sums.set(start, plus(added.slice(0, 3), sums.get(start)));
  }
  return sums;
}

/** The same, with those of the four quarters of an hour and of a day. */
function increments(charges: readonly Event[], minutes: number): Stored {
  const ofQuarters = minutes === 43_200 ? undefined : inStretches(charges, minutes / 4);
  return Object.fromEntries(
    inStretches(charges, minutes)
      .entries()
      .map(([start, each]) => {
        const part = minutes === 60 ? Math.floor(new Date(start).getUTCHours() / 6) : 0;
        const quarters = [0, 1, 2, 3].map((nth) => ofQuarters?.get(start + nth * minutes * 15_000));
        const sums = [each, ...quarters].map((some) => some?.join(" ") ?? "none");
        return [`${minutes} ${part} ${text(start)}`, sums.join(", ")];
      }),
  );
}

const UNITS: Record<string, number> = { M: 60_000, H: 3_600_000, D: 86_400_000 };

/** The end of the leaf that an instant lies in: leaves are counted from the first of the month, months from January. */
function endOfLeaf(at: number, leaf: string): number {
  const [, time, count = "", unit = ""] = /^P(T?)(\d+)(.)$/.exec(leaf) ?? [];
  const [year, month] = [new Date(at).getUTCFullYear(), new Date(at).getUTCMonth()];
  if (unit === "Y" || (unit === "M" && time === "")) {
    const months = unit === "Y" ? 12 : Number(count);
    return firstOf(year, month - (month % months) + months);
  }
  const [from, length] = [firstOf(year, month), Number(count) * (UNITS[unit] ?? 0)];
  const end = from + (Math.floor((at - from) / length) + 1) * length;
  return Math.min(end, firstOf(year, month + 1));
}

/** The first instant of a month. `Date.UTC` takes years up to 99 for others. */
const firstOf = (year: number, month: number) => new Date(0).setUTCFullYear(year, month, 1);
const FIRST = Date.parse("0001-01-01T00:00:00Z");
const text = (at: number) =>
  at >= Date.parse("+010000-01-01T00:00:00Z")
    ? "9999-12-31 23:59:59.999"
    : new Date(at).toISOString().replace("T", " ").replace("Z", "");

/** The ms from the first instant to another one. */
const ms = (at: number) => BigInt(at - FIRST);
const cents = (decimal: string) => BigInt(decimal.replace(".", ""));
