/** The calendar of months, in UTC, with English names. */
import { monthStart } from "../db/datetime.ts";

const format = new Intl.DateTimeFormat("en-US", { month: "long", timeZone: "UTC" });
const NAMES = Array.from({ length: 12 }, (_, month) => format.format(Date.UTC(2000, month)));

/** A month of the Gregorian calendar in UTC. */
export interface Month {
  /** Its first instant, in epoch ms. */
  readonly start: number;
  readonly year: number;
  /** "November 2026" */
  readonly label: string;
  /** "Nov" */
  readonly abbreviation: string;
}

/** The number of months in an overview. 12 months always include the year to date. */
export const MONTHS = 12;

/** The month that contains an instant (epoch ms), and the 11 before it, most recent first. */
export function recentMonths(now: number): readonly Month[] {
  const index = indexOf(now);
  return Array.from({ length: MONTHS }, (_, ago) => month(index - ago));
}

/** Months from January of year 0 to that of an instant. */
function indexOf(instant: number): number {
  const date = new Date(instant);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function startOf(index: number): number {
  return monthStart(Math.floor(index / 12), index % 12);
}

/** @param index months since January of year 0 */
function month(index: number): Month {
  const [year, inYear] = [Math.floor(index / 12), index % 12];
  const name = NAMES[inYear] as string;
  return {
    start: startOf(index),
    year,
    label: `${name} ${year}`,
    abbreviation: name.slice(0, 3),
  };
}
