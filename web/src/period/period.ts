/** Periods to choose from. A day is a calendar day in UTC; both ends are inclusive. */
import { day } from "../instant.ts";

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
  return { startDate: day(first), endDate: day(now) };
}

/** The periods of a breakdown that have a button, on the day of `now`. */
export function presets(now: Date): readonly Preset[] {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const at = (...parts: readonly [number, number, number]) => day(new Date(Date.UTC(...parts)));
  const today = day(now);
  return [
    { title: "This month", startDate: at(year, month, 1), endDate: today },
    { title: "Last month", startDate: at(year, month - 1, 1), endDate: at(year, month, 0) },
    { title: "Last 30 days", ...lastDays(30, now) },
    { title: "This year", startDate: at(year, 0, 1), endDate: today },
  ];
}
