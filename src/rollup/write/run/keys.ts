/**
 * The keys of the ledger that runs name in their statements (FORCE INDEX): a run that reads a view, or a table without
 * them, could not begin.
 */
import type { Knex } from "knex";
import { requireOneShard } from "../../../db/shards.ts";
import { KEYS } from "../ledger.ts";

/** The columns that have a key, behind that of the provider. */
const COLUMNS = {
  charges: ["charged_at", "recorded_at"],
  rentals: ["started_at", "ended_at", "updated_at"],
} as const;

/** What the tables of the ledger lack for runs, in a line for each. */
export async function missingKeys(database: Knex): Promise<string[]> {
  const [rows] = await database.raw(
    `SELECT tables.TABLE_NAME AS tableName, tables.TABLE_TYPE AS kind,
       parts.INDEX_NAME AS keyName, parts.COLUMN_NAME AS columnName
     FROM information_schema.TABLES AS tables
     LEFT JOIN information_schema.STATISTICS AS parts
       ON parts.TABLE_SCHEMA = tables.TABLE_SCHEMA AND parts.TABLE_NAME = tables.TABLE_NAME
     WHERE tables.TABLE_SCHEMA = DATABASE()
       AND tables.TABLE_NAME IN (:tables)
     ORDER BY parts.SEQ_IN_INDEX`,
    { tables: Object.keys(COLUMNS) },
  );
  return Object.entries(COLUMNS).flatMap(([table, columns]) => {
    const own = (rows as Part[]).filter(({ tableName }) => tableName === table);
    if (own.length === 0) return [];
    const needed = columns.filter((column) => {
      const [first, second] = own
        .filter(({ keyName }) => keyName === KEYS[column])
        .map((part) => part.columnName?.toLowerCase());
      return first !== "provider_id" || second !== column;
    });
    if (needed.length === 0) return [];
    const list = needed.map((column) => `${KEYS[column]} (provider_id, ${column}, …)`).join(", ");
    return own[0]?.kind === "VIEW"
      ? [`${table} is a view: rollups need a table with the keys ${list}`]
      : [`${table} lacks keys that rollups need: ${list}`];
  });
}

interface Part {
  readonly tableName: string;
  readonly kind: string;
  readonly keyName: string | null;
  readonly columnName: string | null;
}

/** @throws Error that names the keys, if runs could not begin for want of them, or if the database is many shards */
export async function requireKeys(database: Knex): Promise<void> {
  await requireOneShard(database);
  const missing = await missingKeys(database);
  if (missing.length === 0) return;
  throw new Error(
    `${missing.join("; ")} (docs/adopt.md); without rollups the service reads the ledger`,
  );
}
