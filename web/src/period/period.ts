/** Periods to choose from. A day is the ISO text of a calendar day; both ends are inclusive. */
import { dayAt, longDay, UTC } from "../instant.ts";

/** A period as the request takes it: ISO days. */
export interface Period {
  readonly startDate: string;
  readonly endDate: string;
}

/** A period that has a button. */
export interface Preset extends Period {
  readonly title: string;
  /** What the address has for it, so that it is another period on another day. */
  readonly id: string;
}

/** What is wrong with a period that a person chose; undefined if nothing is. */
export function faultOf({ startDate, endDate }: Period): string | undefined {
  if (startDate === "" || endDate === "") return "Choose both days.";
  // ISO days of the same length are in the order of time.
  if (startDate > endDate) return "The first day is after the last day.";
  return undefined;
}

/** A day at another distance from the start of a month than its own: day 0 is the last one of the month before. */
function dayOf(month: string, months: number, day: number): string {
  const [year = 0, nth = 0] = month.split("-").map(Number);
  return dayAt(new Date(Date.UTC(year, nth - 1 + months, day)), UTC);
}

/** A month as a period, some months after another: -1 for the one before it. */
export function monthPeriod(month: string, months = 0): Period {
  return { startDate: dayOf(month, months, 1), endDate: dayOf(month, months + 1, 0) };
}

/** The month of a day and the 11 before it, latest first: `2026-11`. */
export function monthsUpTo(today: string): string[] {
  return Array.from({ length: 12 }, (_, nth) => dayOf(today, -nth, 1).slice(0, 7));
}

/** The month before up to the same day of it, or to its last one if it is shorter. */
export function monthBefore(today: string): Period {
  const { startDate, endDate } = monthPeriod(today, -1);
  const sameDay = startDate.slice(0, 8) + today.slice(8);
  return { startDate, endDate: [sameDay, endDate].sort()[0] ?? "" };
}

/** The last days up to today, which is one of them. */
export function lastDays(count: number, today: string): Period {
  const first = new Date(Date.parse(today) - (count - 1) * 86_400_000);
  return { startDate: dayAt(first, UTC), endDate: today };
}

/** The periods that have a button, if today is a day. The first is that of an address without a period. */
export function presets(today: string): readonly Preset[] {
  const endDate = today;
  return [
    { id: "this-month", title: "This month", startDate: dayOf(today, 0, 1), endDate },
    { id: "last-month", title: "Last month", ...monthPeriod(today, -1) },
    { id: "last-30-days", title: "Last 30 days", ...lastDays(30, today) },
    { id: "this-year", title: "This year", startDate: `${today.slice(0, 4)}-01-01`, endDate },
    { id: "all-time", title: "All time", startDate: "1970-01-01", endDate },
  ];
}

/** The period of an address: a preset, or two days; the first preset if it is neither. */
export function periodIn(text: string | undefined, today: string): Period {
  const all = presets(today);
  const chosen = all.find(({ id }) => id === text) ?? daysIn(text) ?? (all[0] as Preset);
  return { startDate: chosen.startDate, endDate: chosen.endDate };
}

/** The two days of an address: `2026-11-01_2026-11-22`; undefined if these are none. */
export function daysIn(text: string | undefined): Period | undefined {
  const [, startDate = "", endDate = ""] =
    /^(\d{4}-\d\d-\d\d)_(\d{4}-\d\d-\d\d)$/.exec(text ?? "") ?? [];
  const isDay = (day: string) => new Date(day).toJSON()?.startsWith(day);
  const isPeriod = isDay(startDate) && isDay(endDate) && startDate <= endDate;
  return isPeriod ? { startDate, endDate } : undefined;
}

/** Two days as the address has them. */
export function textOf({ startDate, endDate }: Period): string {
  return `${startDate}_${endDate}`;
}

/** A period as text: `1 Nov 2026 – 22 Nov 2026`; a day alone as that. */
export function periodText({ startDate, endDate }: Period): string {
  const [first, last] = [longDay(startDate), longDay(endDate)];
  return first === last ? first : `${first} – ${last}`;
}
