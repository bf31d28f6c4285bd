/** Periods to choose from. A day is the ISO text of a calendar day; both ends are inclusive. */
import { dayAt, longDay, UTC } from "../instant.ts";

/** A period as the request takes it: ISO days. */
export interface Period {
  readonly startDate: string;
  readonly endDate: string;
}

/** A period in a time zone, as the request takes it. */
export interface ZonedPeriod extends Period {
  readonly timeZone: string;
}

/** A period that has a button. */
export interface Preset extends Period {
  readonly title: string;
}

/** The periods that have a button, if today is a day. */
export type Presets = (today: string) => readonly Preset[];

/** What a person has chosen: a period, which may be another one in another time zone, or tomorrow. */
export type PeriodChoice = (timeZone: string, now: Date) => Period;

/** What is wrong with a period that a person chose; undefined if nothing is. */
export function faultOf({ startDate, endDate }: Period): string | undefined {
  if (startDate === "" || endDate === "") return "Choose both days.";
  // ISO days of the same length are in the order of time.
  if (startDate > endDate) return "The first day is after the last day.";
  return undefined;
}

/** Chooses a period of the present day. */
export function choiceOf(periodOn: (today: string) => Period): PeriodChoice {
  return (timeZone, now) => {
    const { startDate, endDate } = periodOn(dayAt(now, timeZone));
    return { startDate, endDate };
  };
}

/** The last days up to today, which is one of them. */
export function lastDays(count: number, today: string): Period {
  const first = new Date(Date.parse(today) - (count - 1) * 86_400_000);
  return { startDate: dayAt(first, UTC), endDate: today };
}

/** The periods of a breakdown that have a button. */
export function presets(today: string): readonly Preset[] {
  const [year = 0, month = 0] = today.split("-").map(Number);
  const at = (...parts: readonly [number, number, number]) =>
    dayAt(new Date(Date.UTC(...parts)), UTC);
  return [
    { title: "This month", ...thisMonth(today) },
    { title: "Last month", startDate: at(year, month - 2, 1), endDate: at(year, month - 1, 0) },
    { title: "Last 30 days", ...lastDays(30, today) },
    { title: "This year", startDate: at(year, 0, 1), endDate: today },
  ];
}

/** The current month up to today. */
export function thisMonth(today: string): Period {
  return { startDate: `${today.slice(0, 7)}-01`, endDate: today };
}

/** A period as text: `1 Nov 2026 – 22 Nov 2026, UTC`. */
export function periodText({ startDate, endDate, timeZone }: ZonedPeriod): string {
  return `${longDay(startDate)} – ${longDay(endDate)}, ${timeZone}`;
}
