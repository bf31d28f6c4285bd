/** What the server says of the tables and views of a database. */
import type { Knex } from "knex";
import type { StoredColumn } from "./ledger.ts";

/** A table or a view of the database. */
export interface StoredTable {
  readonly name: string;
  readonly isView: boolean;
  readonly columns: readonly StoredColumn[];
  /** The columns of each key, by its name. */
  readonly keys: ReadonlyMap<string, readonly string[]>;
}

/** The tables and views of the database that the account may see, by name. */
export async function storedTables(database: Knex): Promise<ReadonlyMap<string, StoredTable>> {
  const [tables] = await database.raw(
    `SELECT TABLE_NAME AS name, TABLE_TYPE AS kind
     FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()`,
  );
  const [columns] = await database.raw(
    `SELECT TABLE_NAME AS tableName, COLUMN_NAME AS name, DATA_TYPE AS dataType, COLUMN_TYPE AS type,
       IS_NULLABLE AS nullable, COLLATION_NAME AS collation,
       NUMERIC_PRECISION AS digits, NUMERIC_SCALE AS scale
     FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()`,
  );
  const [keys] = await database.raw(
    `SELECT TABLE_NAME AS tableName, INDEX_NAME AS keyName, COLUMN_NAME AS name
     FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()
     ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`,
  );
  const columnsOf = Map.groupBy(columns as ColumnRow[], ({ tableName }) => tableName);
  const keysOf = Map.groupBy(keys as KeyRow[], ({ tableName }) => tableName);
  return new Map(
    (tables as { name: string; kind: string }[]).map(({ name, kind }) => [
      name,
      {
        name,
        isView: kind === "VIEW",
        columns: (columnsOf.get(name) ?? []).map(toColumn),
        keys: keysByName(keysOf.get(name) ?? []),
      },
    ]),
  );
}

interface ColumnRow {
  readonly tableName: string;
  readonly name: string;
  readonly dataType: string;
  readonly type: string;
  readonly nullable: string;
  readonly collation: string | null;
  readonly digits: string | number | null;
  readonly scale: string | number | null;
}

interface KeyRow {
  readonly tableName: string;
  readonly keyName: string;
  readonly name: string;
}

function toColumn(row: ColumnRow): StoredColumn {
  return {
    name: row.name.toLowerCase(),
    dataType: row.dataType.toLowerCase(),
    type: row.type.toLowerCase(),
    isNullable: row.nullable === "YES",
    collation: row.collation,
    precision: row.digits === null ? null : Number(row.digits),
    scale: row.scale === null ? null : Number(row.scale),
  };
}

function keysByName(rows: readonly KeyRow[]): ReadonlyMap<string, readonly string[]> {
  const groups = Map.groupBy(rows, ({ keyName }) => keyName);
  return new Map(
    [...groups].map(([key, parts]) => [key, parts.map(({ name }) => name.toLowerCase())]),
  );
}
