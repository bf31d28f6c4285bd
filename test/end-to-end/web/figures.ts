/** The page with its figures, and the figures of a provider as REST has them, to compare the page with. */
import type { Page } from "playwright-core";
import type { Fixture } from "../../support/service/fixture.ts";

const MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";

/** The first and the last day: `2026-11-01`. */
export type Period = readonly [startDate: string, endDate: string];

/** Waits until the page shows figures, and loads none. */
export async function settled(page: Page): Promise<void> {
  await page.getByText("As of ").first().waitFor();
  await page.locator("section[aria-busy=true]").first().waitFor({ state: "detached" });
}

/** The text of a REST response: its amounts have the digits of the service. */
export async function restText(
  { service, key }: Pick<Fixture, "service" | "key">,
  target: string,
  accept = "application/json",
): Promise<string> {
  const response = await fetch(service.http + target, { headers: { "x-api-key": key, accept } });
  return response.text();
}

/** The digits of each JSON field of a name, in order. */
export function digitsOf(json: string, field: string): string[] {
  return [...json.matchAll(new RegExp(`"${field}":([-\\d.]+)`, "g"))].map(
    ([, digits = ""]) => digits,
  );
}

/** An amount with two digits in cents. */
export const centsOf = (digits = "") => BigInt(digits.replace(".", ""));

/** The target of a request for the days. */
export function dailyTarget([startDate, endDate]: Period, timeZone = "UTC"): string {
  const query = new URLSearchParams({ startDate, endDate, timeZone });
  return `/api/provider/revenue/daily?${query}`;
}

/** The days, oldest first: what the table has of them, and what is said of the bar. */
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
    const amounts = ["earnings", "platformFees", "grossRevenue"].map(of);
    return { date: of("date"), row: [words, ...amounts], bar: `${words} ${of("earnings")}` };
  });
}

/** A day as the page writes it: `22 Nov 2026`. */
export function dayName(date: string): string {
  const { year, month, day } = Temporal.PlainDate.from(date);
  return `${day} ${MONTHS.slice(3 * month - 3, 3 * month)} ${year}`;
}
