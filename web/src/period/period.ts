/** Periods to choose from. A day is a calendar day in UTC; both ends are inclusive. */
import { isoDay } from "../instant.ts";

/** A period as the request takes it: ISO days, or empty for the service's default. */
export interface Period {
  readonly startDate: string;
  readonly endDate: string;
}

/** A period that has a button. */
export interface Preset extends Period {
  readonly title: string;
}

/** What is wrong with a period that a person chose; undefined if nothing is. */
export function faultOf({ startDate, endDate }: Period): string | undefined {
  if (startDate === "" || endDate === "") return "Choose both days.";
  // ISO days of the same length are in the order of time.
  if (startDate > endDate) return "The first day is after the last day.";
  return undefined;
}

/** The last days up to the one of `now`, which is one of them. */
export function lastDays(count: number, now: Date): Period {
  const first = new Date(now.getTime() - (count - 1) * 86_400_000);
  return { startDate: isoDay(first), endDate: isoDay(now) };
}

/** The periods of a breakdown that have a button, on the day of `now`. */
export function presets(now: Date): readonly Preset[] {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const at = (...parts: readonly [number, number, number]) => isoDay(new Date(Date.UTC(...parts)));
  const today = isoDay(now);
  return [
    { title: "This month", ...thisMonth(now) },
    { title: "Last month", startDate: at(year, month - 1, 1), endDate: at(year, month, 0) },
    { title: "Last 30 days", ...lastDays(30, now) },
    { title: "This year", startDate: at(year, 0, 1), endDate: today },
  ];
}

/** The current month up to the day of `now`. */
export function thisMonth(now: Date): Period {
  return { startDate: `${isoDay(now).slice(0, 7)}-01`, endDate: isoDay(now) };
}
