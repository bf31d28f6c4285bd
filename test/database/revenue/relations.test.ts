/**
 * Relations between answers that hold whatever the ledger is, and that need no second calculation: with a rollup
 * and without.
 */
import fc from "fast-check";
import { beforeEach, expect, it } from "vitest";
import { toDatetime } from "../../../src/db/datetime.ts";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { anyLedger } from "../../support/ledger/any-ledger.ts";
import { atTimeOfCall, breakdownOf, dailyOf, overviewOf } from "../../support/ledger/call.ts";
import { shift } from "../../support/ledger/instants.ts";
import type { Ledger } from "../../support/ledger/ledger.ts";
import { storeLedgers } from "../../support/ledger/store.ts";
import { SOAK } from "../../support/soak.ts";
import { databaseOfFile, deleteRows, ROLLUPS } from "../file-database.ts";
import { build } from "../rollup/write/built.ts";

const { knex } = await databaseOfFile();
beforeEach(() => deleteRows(knex, ROLLUPS));

const [PROVIDER, NOW] = [1n, "2026-11-20T09:30:00.123Z"];
const [FROM, TO] = ["2026-09-30T00:00:00.000Z", "2026-11-02T23:59:59.999Z"];
/** Where periods are cut: edges of days and months, and none. */
const CUTS = [
  "2026-09-30T23:59:59.999Z",
  "2026-10-01T00:00:00.000Z",
  "2026-10-15T11:07:00.500Z",
  "2026-10-31T23:59:59.999Z",
  "2026-11-01T12:00:00.000Z",
];
const ledgers = anyLedger(PROVIDER, [FROM, TO, NOW, ...CUTS]);

interface Amount {
  readonly value: string;
}
/** What is used of an answer in protobuf's JSON. */
interface Json {
  readonly totalRevenue: Amount;
  readonly refunds: Amount;
  readonly timeZone: string;
}

/** Stores a ledger, and answers about it from the rows, or from a rollup of what was charged before a cut. */
async function serve(ledger: Ledger, watermark: string | null) {
  await storeLedgers(knex, [ledger]);
  await deleteRows(knex, ROLLUPS);
  if (watermark !== null) await build(knex, String(PROVIDER), toDatetime(Date.parse(watermark)));
  const service = createRevenueService(atTimeOfCall(createRead(knex)));
  return {
    overview: () => overviewOf(service, PROVIDER, NOW),
    days: (zone?: string) =>
      dailyOf(service, PROVIDER, NOW, FROM, TO, zone) as unknown as Promise<Json>,
    breakdown: (from = FROM, to = TO, zone?: string) =>
      breakdownOf(service, PROVIDER, NOW, from, to, zone) as unknown as Promise<Json>,
  };
}

const cents = ({ value }: Amount) => BigInt(value.replace(".", ""));
/** The sums of a breakdown that add up over periods, in cents. */
const sumsOf = ({ totalRevenue, refunds }: Json) => [totalRevenue, refunds].map(cents);

/** The property holds for random ledgers, cuts and watermarks. */
function holds(
  property: (ledger: Ledger, watermark: string | null, cut: string) => Promise<void>,
): Promise<void> {
  const watermark = fc.option(fc.constantFrom(...CUTS, NOW), { freq: 3 });
  const situation = fc.asyncProperty(ledgers, watermark, fc.constantFrom(...CUTS), property);
  return fc.assert(situation, { numRuns: 6 * SOAK });
}

it("of a period that is split in two, the parts add up to the whole", () =>
  holds(async (ledger, watermark, cut) => {
    const { breakdown } = await serve(ledger, watermark);
    const [first, second, whole] = [
      sumsOf(await breakdown(FROM, cut)),
      sumsOf(await breakdown(shift(cut, 1), TO)),
      sumsOf(await breakdown()),
    ];
    expect(first.map((sum, nth) => sum + (second[nth] ?? 0n))).toEqual(whole);
  }));

it("rows that were inserted in another order give the same answers", () =>
  holds(async (ledger, watermark) => {
    const answers = async (ledger: Ledger) => {
      const { overview, breakdown, days } = await serve(ledger, watermark);
      return [await overview(), await breakdown(), await days()];
    };
    const { charges, rentals, servers, instances, payouts } = ledger;
    const reversed = {
      ...ledger,
      charges: charges.toReversed(),
      rentals: rentals.toReversed(),
      servers: servers.toReversed(),
      instances: instances.toReversed(),
      payouts: payouts.toReversed(),
    };
    expect(await answers(reversed)).toEqual(await answers(ledger));
  }));

it("zones of one offset have the same days and sums", () =>
  holds(async (ledger, watermark) => {
    const { breakdown, days } = await serve(ledger, watermark);
    const answers = async (zone: string) => {
      const [{ timeZone: _, ...period }, { timeZone: __, ...ofDays }] = [
        await breakdown(FROM, TO, zone),
        await days(zone),
      ];
      return [period, ofDays];
    };
    expect(await answers("Asia/Kolkata")).toEqual(await answers("Asia/Colombo"));
    expect(await answers("Etc/GMT-9")).toEqual(await answers("Asia/Tokyo"));
  }));

it("a charge that is refunded in the same instant changes no revenue, and the refunds by itself", () =>
  holds(async (ledger, watermark, at) => {
    const before = await (await serve(ledger, watermark)).breakdown();
    const charge = { server: 10n, instance: null, at, gross: 12_345n };
    const charges = [...ledger.charges, charge, { ...charge, gross: -charge.gross }];
    const after = await (await serve({ ...ledger, charges }, watermark)).breakdown();
    const [revenue, refunds] = sumsOf(before);
    expect(sumsOf(after)).toEqual([revenue, (refunds ?? 0n) - charge.gross]);
  }));
