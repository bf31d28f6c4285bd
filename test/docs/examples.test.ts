/** The answers that the README shows could be real: their figures add up. */
import { expect, it } from "vitest";
import { blockWith } from "./readme.ts";

const cents = (amount: number) => Math.round(amount * 100);

it("earnings and fee make the gross, the fee is a tenth of it, and hours are gross by price", () => {
  const { summary, monthlyEarnings, serverRevenue } = JSON.parse(blockWith("json", '"summary"'));
  const objects: [earnings: number, fee: number, gross: number][] = [
    [summary.totalEarningsYTD, summary.platformFeesYTD, summary.grossRevenueYTD],
    ...serverRevenue.map((server: Record<string, number>) => [
      server.totalEarnings,
      server.platformFees,
      server.grossRevenue,
    ]),
  ];
  for (const [earnings, fee, gross] of objects) {
    expect(cents(earnings) + cents(fee)).toBe(cents(gross));
    expect(cents(fee)).toBe(Math.round(cents(gross) / 10));
  }
  expect(monthlyEarnings[0].amount).toBe(summary.currentMonthEarnings);
  for (const { grossRevenue, pricePerHour, totalHours } of serverRevenue) {
    expect(cents(totalHours)).toBe(Math.round(cents(grossRevenue) / pricePerHour));
  }
});

it("the breakdown's period is the one asked for beside it, and no part is more than the whole", () => {
  const answer = JSON.parse(blockWith("json", '"totalServers"'));
  const asked = new URL(blockWith("console", "/servers?").match(/'(http.*)'/)?.[1] ?? "")
    .searchParams;
  expect(answer.startDate).toBe(`${asked.get("startDate")}T00:00:00Z`);
  expect(answer.endDate).toBe(`${asked.get("endDate")}T23:59:59.999Z`);
  expect(answer.activeServers).toBeLessThanOrEqual(answer.totalServers);
  for (const server of answer.servers) {
    for (const part of [server, ...server.instances]) {
      expect(part.totalRevenue).toBeLessThanOrEqual(answer.totalRevenue);
      expect(part.totalRentals).toBeLessThanOrEqual(answer.totalRentals);
      expect(part.activeRentals).toBeLessThanOrEqual(part.totalRentals);
    }
  }
});

it("amounts are written as the service writes them: with two digits", () => {
  for (const mark of ['"summary"', '"totalServers"']) {
    const decimals = blockWith("json", mark).match(/: \d+\.\d+/g) ?? [];
    expect(decimals.length).toBeGreaterThan(1);
    expect(decimals.filter((text) => !/\.\d\d$/.test(text))).toEqual([]);
  }
});
