/**
 * SQL about time: instants, dates that do not exist, and times in ms. A lax `sql_mode` lets a writer store the date
 * zero, a day 0 or a 30th of February; such rows count where `instantOf` has them.
 */
import { DAY } from "./datetime.ts";

/** The instant of a statement, by the clock of the node that runs it, which stands still meanwhile. */
export const NOW = "UTC_TIMESTAMP(3)";

/** DATETIME(3) text that sorts before every date, also before the date zero. */
export const BEFORE_ALL = "0000-00-00 00:00:00.000";

/** A parameter or a text as an instant. */
export const instant = (sql: string): string => `CAST(${sql} AS DATETIME(3))`;

/** A parameter as a whole number of ms: as text it would be compared and added as a DOUBLE. */
export const milliseconds = (parameter: string): string => `CAST(${parameter} AS SIGNED)`;

/**
 * SQL condition: the date in a column exists. The engines have no other way to tell: of a 30th of February most
 * of their functions make 2 March.
 */
export function dateExists(column: string): string {
  return `COALESCE(DAY(${column}) BETWEEN 1 AND DAY(LAST_DAY(${column})), FALSE)`;
}

/** The whole ms from the first instant to another one; NULL for a date with a part that is zero. */
const sinceFirst = (instant: string) =>
  `TIMESTAMPDIFF(MICROSECOND, DATE'0001-01-01', ${instant}) DIV 1000`;

/**
 * The ms from the first instant to the one that a date in a column counts at: that of `instantOf`. The engines
 * count the days of a 30th of February on into March.
 */
export function millisecondsOf(column: string): string {
  const endOfMonth = `${sinceFirst(`LAST_DAY(${column})`)} + ${DAY - 1}`;
  const january = `CAST(CONCAT(LPAD(YEAR(${column}), 4, '0'), '-01-01') AS DATETIME)`;
  const startOfMonth = sinceFirst(`${january} + INTERVAL GREATEST(MONTH(${column}), 1) - 1 MONTH`);
  return `GREATEST(COALESCE(LEAST(${sinceFirst(column)}, ${endOfMonth}), ${startOfMonth} - 1, 0), 0)`;
}
