/**
 * What a host reconciles: the days of each month add up to the month in the breakdown and in the
 * overview, and the months to the year to date, to the cent.
 */
import { beforeAll, expect, it } from "vitest";
import { parseCents } from "../../../src/db/cents.ts";
import { toDatetime } from "../../../src/db/datetime.ts";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService, type RevenueFunctions } from "../../../src/revenue/service.ts";
import { atTimeOfCall, breakdownOf, dailyOf, overviewOf } from "../../support/ledger/call.ts";
import { tenPercent } from "../../support/ledger/json-figures.ts";
import { databaseOfFile } from "../file-database.ts";
import { build } from "../rollup/write/built.ts";

const PROVIDER = 1n;
const NOW = "2026-11-20T12:00:00.000Z";
/** A charge every eight hours and a bit, from the year before to some days after now. */
const CHARGES = Array.from({ length: 1_000 }, (_, nth) => {
  const charged_at = toDatetime(Date.parse("2025-12-01T00:00:00Z") + nth * 31_098_765);
  const gross = ((((nth * 7_919) % 100_000) - 5_000) / 100).toFixed(2);
  return { provider_id: 1, server_id: 1, charged_at, recorded_at: charged_at, gross };
});
const MONTHS = Array.from({ length: 11 }, (_, month) =>
  Temporal.PlainYearMonth.from({ year: 2026, month: month + 1 }),
);

const database = await databaseOfFile();
let service: RevenueFunctions;
beforeAll(async () => {
  await database.knex("charges").insert(CHARGES);
  await build(database.knex, "1", "2026-11-20 00:00:00.000");
  service = createRevenueService(atTimeOfCall(createRead(database.knex)));
});

interface Figures {
  readonly [field: string]: { readonly value: string };
}
const cents = (amount: { readonly value: string } | undefined) => parseCents(amount?.value ?? "");

/** Gross revenue in cents: of each day of a month, and of the month in the breakdown. */
async function grossOf(month: Temporal.PlainYearMonth) {
  const from = month.toPlainDate({ day: 1 });
  const period = [from, from.add({ months: 1 }).subtract({ days: 1 })].map(String) as [
    string,
    string,
  ];
  const daily = (await dailyOf(service, PROVIDER, NOW, ...period)) as unknown as {
    days: Figures[];
  };
  const breakdown = (await breakdownOf(service, PROVIDER, NOW, ...period)) as unknown as Figures;
  expect(daily.days).toHaveLength(month.daysInMonth);
  const days = daily.days.map(({ grossRevenue }) => cents(grossRevenue));
  return { days, breakdown: cents(breakdown.totalRevenue) };
}

it("days, months and the year fit together", async () => {
  const { summary, monthlyEarnings } = (await overviewOf(service, PROVIDER, NOW)) as unknown as {
    summary: Figures;
    monthlyEarnings: { amount: { value: string } }[];
  };
  let year = 0n;
  for (const [nth, month] of MONTHS.entries()) {
    const { days, breakdown } = await grossOf(month);
    const gross = days.reduce((sum, day) => sum + day);
    expect(gross, `${month}`).toBe(breakdown);
    const earnings = cents(monthlyEarnings[MONTHS.length - 1 - nth]?.amount);
    expect(gross - tenPercent(gross), `${month}`).toBe(earnings);
    year += gross;
  }
  expect(year).toBe(cents(summary.grossRevenueYTD));
  expect(year).not.toBe(0n);
});
