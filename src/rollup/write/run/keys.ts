/**
 * The keys of the ledger that runs name in their statements (FORCE INDEX): a run that reads a view, or a table without
 * them, could not begin.
 */
import type { Knex } from "knex";
import { requireOneShard } from "../../../db/shards.ts";

/** The columns that each key must begin with. */
export const FORCED_KEYS = {
  charges: {
    PRIMARY: ["provider_id", "charged_at"],
    charges_by_recording: ["provider_id", "recorded_at"],
  },
  rentals: {
    PRIMARY: ["provider_id", "started_at"],
    rentals_by_end: ["provider_id", "ended_at"],
    rentals_by_update: ["provider_id", "updated_at"],
  },
} as const;

/** The columns of keys, by their names. */
type Keys = Readonly<Record<string, readonly string[]>>;

/** What the tables of the ledger lack for runs, in a line for each. */
export async function missingKeys(database: Knex): Promise<string[]> {
  const [rows] = await database.raw(
    `SELECT tables.TABLE_NAME AS tableName, tables.TABLE_TYPE AS kind,
       parts.INDEX_NAME AS keyName, parts.COLUMN_NAME AS columnName
     FROM information_schema.TABLES AS tables
     LEFT JOIN information_schema.STATISTICS AS parts
       ON parts.TABLE_SCHEMA = tables.TABLE_SCHEMA AND parts.TABLE_NAME = tables.TABLE_NAME
     WHERE tables.TABLE_SCHEMA = DATABASE()
       AND tables.TABLE_NAME IN (${Object.keys(FORCED_KEYS).map(() => "?")})
     ORDER BY parts.SEQ_IN_INDEX`,
    Object.keys(FORCED_KEYS),
  );
  return Object.entries<Keys>(FORCED_KEYS).flatMap(([table, keys]) => {
    const own = (rows as Part[]).filter(({ tableName }) => tableName === table);
    if (own.length === 0) return [];
    const needed = Object.entries(keys).filter(([key, columns]) => {
      const parts = own
        .filter(({ keyName }) => keyName === key)
        .map((part) => part.columnName?.toLowerCase());
      return columns.some((column, nth) => parts[nth] !== column);
    });
    if (needed.length === 0) return [];
    const list = needed.map(([key, columns]) => `${key} (${columns.join(", ")}, …)`).join(", ");
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
