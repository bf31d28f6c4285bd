/** What payouts come to. */
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { PayoutSchema } from "../../../gen/revenue/v1/revenue_pb.ts";
import { paidIn, settlementOf } from "../../../web/src/payouts/settlement.ts";

const payout = (at: string, amount: string, status = "Completed") =>
  create(PayoutSchema, {
    payoutId: `${at} ${status}`,
    date: timestampFromDate(new Date(at)),
    amount: { value: amount },
    status,
  });

it("paid are the payouts that are completed, of the month and of the year of the zone, and no plan", () => {
  const payouts = [
    payout("2026-11-30T00:00:00Z", "9.00"),
    payout("2026-11-01T00:00:00Z", "0.20"),
    payout("2026-10-31T19:00:00Z", "90071992547409931234.56"),
    payout("2026-01-01T01:00:00Z", "0.01"),
    payout("2025-12-31T12:00:00Z", "5.00"),
  ];
  const paid = ["UTC", "Asia/Kolkata", "America/St_Johns"].map((zone) => {
    const { paidThisMonth, paidThisYear } = settlementOf(payouts, "2026-11-28", zone);
    return [paidThisMonth, paidThisYear];
  });
  const huge = 9007199254740993123456n;
  expect(paid).toEqual([
    [20n, huge + 21n],
    [huge + 20n, huge + 21n],
    [0n, huge + 20n],
  ]);
  expect(paidIn("2026-10", payouts, "UTC")).toEqual(payouts.slice(2, 3));
});

it("what is pending, what failed lately and what nobody knows are told apart", () => {
  const latest = Array.from({ length: 10 }, () => payout("2026-11-02T00:00:00Z", "1.00"));
  const [pending, failed, other] = ["Pending", "Failed", "Reviewing"].map((status) =>
    payout("2026-11-03T00:00:00Z", "7.00", status),
  );
  const cancelled = payout("2026-11-03T00:00:00Z", "8.00", "Cancelled");
  const some = [pending, failed, other, cancelled].filter((one) => one !== undefined);
  const settlement = settlementOf([...some, ...latest], "2026-11-28", "UTC");
  expect(settlement).toMatchObject({ pending: [pending], failed: [failed], unknown: [other] });
  expect(settlement.paidThisMonth).toBe(1000n);
  // One that ten others followed is no news.
  expect(settlementOf([...latest, ...some], "2026-11-28", "UTC").failed).toEqual([]);
});
