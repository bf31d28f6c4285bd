/** The calendar of the figures: months of the Gregorian calendar, in UTC, with English names. */

const NAMES = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
] as const;

export interface Month {
  /** As the database counts months with EXTRACT(YEAR_MONTH FROM …): "202611". */
  readonly key: string;
  readonly year: number;
  /** "November 2026" */
  readonly label: string;
  /** "Nov" */
  readonly abbreviation: string;
  /** Its first instant, in epoch ms. */
  readonly start: number;
  /** The first instant after it, in epoch ms. */
  readonly end: number;
}

/** The `count` months up to the one that `now` (epoch ms) lies in, most recent first. */
export function recentMonths(now: number, count: number): Month[] {
  const date = new Date(now);
  const current = date.getUTCFullYear() * 12 + date.getUTCMonth();
  return Array.from({ length: count }, (_, ago) => month(current - ago));
}

/** @param index months since January of the year 0 */
function month(index: number): Month {
  const year = Math.floor(index / 12);
  const name = NAMES[index - year * 12] as string;
  return {
    key: String(year * 100 + (index - year * 12) + 1),
    year,
    label: `${name} ${year}`,
    abbreviation: name.slice(0, 3),
    start: Date.UTC(year, index - year * 12),
    end: Date.UTC(year, index - year * 12 + 1),
  };
}
