/** The figures in the README's example responses add up. */
import { expect, it } from "vitest";
import { blocksOf, page } from "./markdown.ts";

const readme = blocksOf(page("README.md"));

/** The README's only block of a language that contains `mark`. */
function block(language: string, mark: string): string {
  const found = readme.filter((one) => one.language === language && one.text.includes(mark));
  expect(found).toHaveLength(1);
  return found[0]?.text ?? "";
}

const cents = (amount: number) => Math.round(amount * 100);

it("earnings + fee = gross, the fee is a tenth of the gross, and hours are gross ÷ price", () => {
  const { summary, monthlyEarnings, serverRevenue } = JSON.parse(block("json", '"summary"'));
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

it("the breakdown has the period of its request, and no part exceeds the total", () => {
  const response = JSON.parse(block("json", '"totalServers"'));
  const request = new URL(block("console", "/servers?").match(/'(http.*)'/)?.[1] ?? "");
  expect(response.startDate).toBe(`${request.searchParams.get("startDate")}T00:00:00Z`);
  expect(response.endDate).toBe(`${request.searchParams.get("endDate")}T23:59:59.999Z`);
  expect(response.activeServers).toBeLessThanOrEqual(response.totalServers);
  for (const server of response.servers) {
    for (const part of [server, ...server.instances]) {
      expect(part.totalRevenue).toBeLessThanOrEqual(response.totalRevenue);
      expect(part.totalRentals).toBeLessThanOrEqual(response.totalRentals);
      expect(part.activeRentals).toBeLessThanOrEqual(part.totalRentals);
    }
  }
});

it("amounts have two digits, as in a real response", () => {
  for (const mark of ['"summary"', '"totalServers"']) {
    const decimals = block("json", mark).match(/: \d+\.\d+/g) ?? [];
    expect(decimals.length).toBeGreaterThan(1);
    expect(decimals.filter((text) => !/\.\d\d$/.test(text))).toEqual([]);
  }
});
