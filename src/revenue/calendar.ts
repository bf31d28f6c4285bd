/** Calendar months in UTC, with English names. */

const format = new Intl.DateTimeFormat("en-US", { month: "long", timeZone: "UTC" });
const NAMES = Array.from({ length: 12 }, (_, month) => format.format(Date.UTC(2000, month)));

/** A month of the Gregorian calendar in UTC. */
export interface Month {
  /** The value of EXTRACT(YEAR_MONTH FROM …) in SQL: "202611". */
  readonly key: string;
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
  const date = new Date(now);
  const index = date.getUTCFullYear() * 12 + date.getUTCMonth();
  return Array.from({ length: MONTHS }, (_, ago) => month(index - ago));
}

/** @param index months since January of year 0 */
function month(index: number): Month {
  const [year, inYear] = [Math.floor(index / 12), index % 12];
  const name = NAMES[inYear] as string;
  return {
    key: String(year * 100 + inYear + 1),
    year,
    label: `${name} ${year}`,
    abbreviation: name.slice(0, 3),
  };
}
