/** Decimal strings and sums on the page: taken apart, compared and added without floating point. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, it } from "vitest";
import { DecimalSchema } from "../../../gen/google/type/decimal_pb.ts";
import {
  DailyRevenueSchema,
  GetServerBreakdownResponseSchema,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { partsOf, scaled, usd } from "../../../web/src/amount/decimal-text.ts";
import {
  changeOf,
  daySpans,
  grossOf,
  monthSpans,
  perHour,
  spansCsv,
  sumsOf,
  within,
} from "../../../web/src/amount/sums.ts";
import { scaleOf } from "../../../web/src/chart/scale.ts";
import type { Period } from "../../../web/src/period/period.ts";

const DECIMAL = /^-?\d{1,30}(\.\d{1,4})?$/;

it("the parts of a decimal joined are the decimal", () => {
  fc.assert(
    fc.property(fc.stringMatching(DECIMAL), (text) => {
      const { sign, groups, fraction } = partsOf(text);
      expect(sign + groups.join("") + fraction).toBe(text);
      expect(groups.slice(1).every((group) => group.length === 3)).toBe(true);
    }),
  );
});

it.each([
  ["0.3475", "$0.3475", 3475n],
  ["-0.01", "-$0.01", -100n],
  ["-90071992547409931234.56", "-$90,071,992,547,409,931,234.56", -900719925474099312345600n],
])("%s is written as %s, and is %d ten-thousandths", (text, expected, integer) => {
  expect([usd(text), scaled(text)]).toEqual([expected, integer]);
});

const usdOf = (value: string) => create(DecimalSchema, { value });

it.each([
  // Half a cent is rounded away from zero: 0.115 and -0.115.
  ["0.92", "8.00", 12n],
  ["-0.92", "8.00", -12n],
  ["81064793292668938111.10", "1.00", 8106479329266893811110n],
  ["4050.04", "0.00", undefined],
])("of %s earned in %s hours, an hour earned %s cents", (earnings, hours, expected) => {
  expect(perHour(usdOf(earnings), usdOf(hours))).toBe(expected);
});

it.each([
  [1123n, 1000n, "12.3 % more than"],
  [1000n, 1000n, "as much as"],
  [10n ** 30n, 10n ** 30n + 1n, "as much as"],
  [5n, 0n, ""],
])("%d after %d is %j", (now, before, expected) => {
  expect(changeOf(now, before)).toBe(expected);
});

/** A day of which the service's fees are of no account: the page adds up gross revenue. */
const day = (date: string, gross: string, more: MessageInitShape<typeof DailyRevenueSchema> = {}) =>
  create(DailyRevenueSchema, { date, grossRevenue: usdOf(gross), charges: 2, ...more });

const DAYS = [
  day("2026-10-31", "0.05"),
  day("2026-11-01", "0.05", { refunds: usdOf("-3.00") }),
  day("2026-11-02", "-0.01", { partial: true }),
];

it("the fee of days is rounded once for all of them, half a cent away from zero", () => {
  // Three fees by themselves would be 0.01, 0.01 and 0.00.
  expect(sumsOf(DAYS)).toEqual({ gross: 9n, fee: 1n, earnings: 8n, refunds: -300n, charges: 6 });
  expect(sumsOf(DAYS.slice(0, 2))).toMatchObject({ gross: 10n, fee: 1n, earnings: 9n });
  const november = { startDate: "2026-11-01", endDate: "2026-11-30" };
  expect(within(DAYS, november)).toEqual(DAYS.slice(1));
});

it("days are shown by themselves or by month, and the last one may not be over; as CSV the columns have the service's names", () => {
  expect(monthSpans(DAYS)).toMatchObject([
    { title: "Oct 2026", label: "Oct", gross: 5n, partial: false },
    { startDate: "2026-11-01", endDate: "2026-11-02", gross: 4n, fee: 0n, partial: true },
  ]);
  const titles = daySpans(DAYS).map(({ title }) => title);
  expect(titles).toEqual(["31 Oct 2026", "1 Nov 2026", "2 Nov 2026 so far"]);
  expect(spansCsv(monthSpans(DAYS)).split("\r\n")).toEqual([
    "startDate,endDate,grossRevenue,platformFees,earnings,charges,refunds",
    "2026-10-31,2026-10-31,0.05,0.01,0.04,2,0.00",
    "2026-11-01,2026-11-02,0.04,0.00,0.04,4,-3.00",
    "",
  ]);
});

it("the gross revenue of a server, or of other days than the figures have, may not be known", () => {
  const [october, november] = ["2026-10", "2026-11"].map((month) => {
    return { startDate: `${month}-01`, endDate: `${month}-30` };
  }) as [Period, Period];
  const server = { serverId: "s", totalRevenue: usdOf("5.00") };
  const answer = { totalRevenue: usdOf("7.00"), servers: [server] };
  const breakdown = create(GetServerBreakdownResponseSchema, answer);
  const gross = (opened: Period, server?: string, days?: typeof DAYS) =>
    grossOf(opened, server, november, breakdown, days);
  expect(["s", "x", undefined].map((id) => gross(november, id))).toEqual([500n, undefined, 700n]);
  expect([gross(october), gross(october, "s", DAYS)]).toEqual([undefined, undefined]);
  expect(gross({ ...october, endDate: "2026-10-31" }, undefined, DAYS)).toBe(5n);
});

it.each([
  ["3.2", "0 1 2 3 4"],
  ["70 -20", "-50 0 50 100"],
  ["1234567 9", "0 500000 1000000 1500000"],
])("the axis of %s has %s", (values, ticks) => {
  expect(scaleOf(values.split(" ").map(Number)).join(" ")).toBe(ticks);
});
