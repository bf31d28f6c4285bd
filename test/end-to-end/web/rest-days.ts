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
export function dailyTarget([startDate, endDate]: Period): string {
  return `/api/provider/revenue/daily?startDate=${startDate}&endDate=${endDate}`;
}

/** The days, oldest first: every digit as a row of the table, and what is said of the bar. */
export async function restDays(fixture: Pick<Fixture, "service" | "key">, period: Period) {
  const day = /"date":"(.*?)",.*?:(.*?),.*?:(.*?),.*?:(.*?),.*?:(.*?),"partial":(.*?)}/g;
  const [, days = ""] = (await restText(fixture, dailyTarget(period))).split('"days":');
  return Array.from(days.matchAll(day), ([, date = "", gross, fees, earnings, number, partial]) => {
    const { year, month, day } = Temporal.PlainDate.from(date);
    const name = `${day} ${MONTHS.slice(3 * month - 3, 3 * month)} ${year}`;
    const words = partial === "true" ? `${name} so far` : name;
    return { row: [words, earnings, fees, gross, number], bar: `${words} ${earnings}` };
  });
}
