/**
 * Whether writers record rows in UTC. A database that knows no default in UTC (TiDB) fills `recorded_at` in
 * the time zone of the writer's session. A watermark would pass what is recorded behind UTC, and the check
 * would have to find it.
 */
import type { Knex } from "knex";

/** Names of UTC in `time_zone`. */
const UTC = new Set(["UTC", "Etc/UTC", "+00:00"]);

/** Warns if rows are recorded in the zone of the writer's session, and that is another one by default. */
export async function checkRecording(
  database: Knex,
  warn: (message: string) => void,
): Promise<void> {
  const [[row]] = await database.raw(
    `SELECT column_default AS value,
       CASE @@global.time_zone WHEN 'SYSTEM' THEN @@system_time_zone ELSE @@global.time_zone END AS zone
     FROM information_schema.COLUMNS
     WHERE table_schema = DATABASE() AND table_name = 'charges' AND column_name = 'recorded_at'`,
  );
  if (row === undefined || /utc_timestamp/i.test(row.value) || UTC.has(row.zone)) return;
  warn(
    `recorded_at is filled in the time zone of the writer's session, by default ${row.zone}: ` +
      "writers must set theirs to '+00:00', or rows are missing until they are compared",
  );
}
