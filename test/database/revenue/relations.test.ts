/**
 * Relations between answers that hold whatever the ledger is, and that need no second calculation: with a rollup
 * and without.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { toDatetime } from "../../../src/db/datetime.ts";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { sum } from "../../support/ledger/amounts.ts";
import { anyLedger } from "../../support/ledger/any-ledger.ts";
import { atTimeOfCall, breakdownOf, dailyOf, overviewOf } from "../../support/ledger/call.ts";
import { shift } from "../../support/ledger/instants.ts";
import type { Ledger } from "../../support/ledger/ledger.ts";
import { storeLedgers } from "../../support/ledger/store.ts";
import { SOAK } from "../../support/soak.ts";
import { databaseOfFile, deleteRows, ROLLUPS } from "../file-database.ts";
import { build } from "../rollup/write/built.ts";

const { knex } = await databaseOfFile();

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
/** Zones of the same offset in that period. */
const ONE_OFFSET = { "Asia/Kolkata": "Asia/Colombo", "Etc/GMT-9": "Asia/Tokyo" };
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

/** The sums of a breakdown that add up over periods, in cents. */
const sumsOf = ({ totalRevenue, refunds }: Json) =>
  [totalRevenue, refunds].map(({ value }) => BigInt(value.replace(".", "")));

/** Answers for any zone, without its name. */
async function answersIn({ breakdown, days }: Awaited<ReturnType<typeof serve>>, zone: string) {
  const answers = [await breakdown(FROM, TO, zone), await days(zone)];
  return answers.map((answer) => ({ ...answer, timeZone: "" }));
}

const anyWatermark = fc.option(fc.constantFrom(...CUTS, NOW), { freq: 3 });

it("parts add up, zones of one offset are the same, and so is another order of rows; a refund takes its charge", () =>
  fc.assert(
    fc.asyncProperty(ledgers, anyWatermark, fc.constantFrom(...CUTS), async (ledger, mark, cut) => {
      const served = await serve(ledger, mark);
      const { breakdown } = served;
      const whole = sumsOf(await breakdown());
      const parts = [await breakdown(FROM, cut), await breakdown(shift(cut, 1), TO)].map(sumsOf);
      expect(whole.map((_, nth) => sum(parts.map((part) => part[nth] ?? 0n)))).toEqual(whole);

      for (const [zone, same] of Object.entries(ONE_OFFSET)) {
        expect(await answersIn(served, zone)).toEqual(await answersIn(served, same));
      }

      const answers = [await served.overview(), await breakdown(), await served.days()];
      const reversed = Object.entries(ledger).map(([name, rows]) => [
        name,
        Array.isArray(rows) ? rows.toReversed() : rows,
      ]);
      const other = await serve(Object.fromEntries(reversed), mark);
      expect([await other.overview(), await other.breakdown(), await other.days()]).toEqual(
        answers,
      );

      // In the same instant.
      const charge = { server: 10n, instance: null, at: cut, gross: 12_345n };
      const charges = [...ledger.charges, charge, { ...charge, gross: -charge.gross }];
      const after = await (await serve({ ...ledger, charges }, mark)).breakdown();
      const [revenue, refunds] = whole;
      expect(sumsOf(after)).toEqual([revenue, (refunds ?? 0n) - charge.gross]);
    }),
    { numRuns: 6 * SOAK },
  ));
