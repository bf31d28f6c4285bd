/** The days of a provider as REST has them, to compare the page with. */
import type { Fixture } from "../../support/service/fixture.ts";

const MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";

/** The first and the last day: `2026-11-01`. */
export type Period = readonly [startDate: string, endDate: string];

/** The text of a REST response: its amounts have the digits of the service. */
export async function restText(
  { service, key }: Pick<Fixture, "service" | "key">,
  target: string,
  accept = "application/json",
): Promise<string> {
  const response = await fetch(service.http + target, { headers: { "x-api-key": key, accept } });
  return response.text();
}

/** The target of a request for the days. */
export function dailyTarget([startDate, endDate]: Period, timeZone = "UTC"): string {
  const query = new URLSearchParams({ startDate, endDate, timeZone });
  return `/api/provider/revenue/daily?${query}`;
}

/** The days, oldest first: every digit as a row of the table, and what is said of the bar. */
export async function restDays(
  fixture: Pick<Fixture, "service" | "key">,
  period: Period,
  timeZone = "UTC",
) {
  const target = dailyTarget(period, timeZone);
  const [, days = ""] = (await restText(fixture, target)).split('"days":');
  return Array.from(days.matchAll(/{.*?}/g), ([day]) => {
    const of = (field: string) => new RegExp(`"${field}":"?(.*?)"?[,}]`).exec(day)?.[1] ?? "";
    const name = dayName(of("date"));
    const words = of("partial") === "true" ? `${name} so far` : name;
    const amounts = ["earnings", "platformFees", "grossRevenue", "refunds", "charges"].map(of);
    return { row: [words, ...amounts], bar: `${words} ${of("earnings")}` };
  });
}

/** A day as the page writes it: `22 Nov 2026`. */
export function dayName(date: string): string {
  const { year, month, day } = Temporal.PlainDate.from(date);
  return `${day} ${MONTHS.slice(3 * month - 3, 3 * month)} ${year}`;
}
