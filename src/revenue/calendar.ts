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
  /** The first instant of the month, in epoch ms. */
  readonly start: number;
  /** The first instant after the month, in epoch ms. */
  readonly end: number;
}

/**
 * Returns a function from an instant (epoch ms) to the month that contains it and the `count` - 1
 * months before it, most recent first. It remembers the last result, which holds for a month.
 */
export function createRecentMonths(count: number): (now: number) => readonly Month[] {
  let months: readonly Month[] = [];
  return (now) => {
    const [current] = months;
    if (current === undefined || now < current.start || now >= current.end) {
      const date = new Date(now);
      const index = date.getUTCFullYear() * 12 + date.getUTCMonth();
      months = Array.from({ length: count }, (_, ago) => month(index - ago));
    }
    return months;
  };
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
    start: Date.UTC(year, inYear),
    end: Date.UTC(year, inYear + 1),
  };
}
