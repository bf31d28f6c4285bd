/** Where the rows of a provider's ledger lie, and how many owners they have. */
import type { Knex } from "knex";
import type { RowsByDay } from "../leaves.ts";

/** The index on a column. The server would take one that holds all columns, and read it from end to end. */
export const KEYS = {
  charged_at: "PRIMARY",
  recorded_at: "charges_by_recording",
  started_at: "PRIMARY",
  ended_at: "rentals_by_end",
  updated_at: "rentals_by_update",
} as const;

/** The number of servers and instances of a provider. */
export async function ownersOf(reader: Knex, provider: string): Promise<number> {
  const [[{ owners }]] = await reader.raw(
    `SELECT (SELECT COUNT(*) FROM servers WHERE provider_id = :provider)
          + (SELECT COUNT(*) FROM instances WHERE provider_id = :provider) AS owners`,
    { provider },
  );
  return Number(owners);
}

/**
 * The number of charges, and of starts and ends of rentals, by day, up to now.
 *
 * @param since the first day. Default: that of the first row
 */
export async function rowsByDay(
  reader: Knex,
  provider: string,
  since?: string,
): Promise<RowsByDay> {
  const part = (table: string, column: string) =>
    `(SELECT DATE(${column}) AS day, COUNT(*) AS count FROM ${table}
      WHERE provider_id = :provider AND ${column} <= UTC_TIMESTAMP(3)
        ${since ? `AND ${column} >= :since` : ""} GROUP BY day)`;
  const [rows] = await reader.raw(
    `SELECT CAST(day AS CHAR) AS day, SUM(count) AS count
     FROM (${[part("charges", "charged_at"), part("rentals", "started_at"), part("rentals", "ended_at")].join(" UNION ALL ")}) AS days
     WHERE day IS NOT NULL GROUP BY days.day`,
    since ? { provider, since } : { provider },
  );
  return new Map(
    rows.map(({ day, count }: { day: string; count: string | number }) => [day, Number(count)]),
  );
}
