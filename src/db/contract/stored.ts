/** What the server says of the tables and views of a database. */
import type { Knex } from "knex";
import type { StoredColumn } from "./ledger.ts";

/** A table or a view of the database. */
export interface StoredTable {
  readonly name: string;
  readonly isView: boolean;
  readonly columns: readonly StoredColumn[];
  /** The columns of each key. */
  readonly keys: readonly (readonly string[])[];
}

/** The tables and views of the database that the account may see, by name. */
export async function storedTables(database: Knex): Promise<ReadonlyMap<string, StoredTable>> {
  const [tables] = await database.raw(
    `SELECT TABLE_NAME AS name, TABLE_TYPE AS kind
     FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()`,
  );
  const [columns] = await database.raw(
    `SELECT TABLE_NAME AS tableName, COLUMN_NAME AS name, COLUMN_TYPE AS type,
       IS_NULLABLE AS nullable, COLLATION_NAME AS collation
     FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()`,
  );
  const [parts] = await database.raw(
    `SELECT TABLE_NAME AS tableName, INDEX_NAME AS keyName, COLUMN_NAME AS name
     FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() ORDER BY SEQ_IN_INDEX`,
  );
  return new Map(
    (tables as { name: string; kind: string }[]).map(({ name, kind }) => {
      const isOwn = ({ tableName }: { tableName: string }) => tableName === name;
      const table: StoredTable = {
        name,
        isView: kind === "VIEW",
        columns: (columns as ColumnRow[]).filter(isOwn).map(toColumn),
        keys: keysOf((parts as KeyPart[]).filter(isOwn)),
      };
      return [name, table];
    }),
  );
}

type ColumnRow = Readonly<Record<"tableName" | "name" | "type" | "nullable", string>> & {
  readonly collation: string | null;
};

function toColumn({ name, type, nullable, collation }: ColumnRow): StoredColumn {
  const lower = { name: name.toLowerCase(), type: type.toLowerCase() };
  return { ...lower, isNullable: nullable === "YES", collation };
}

/** A column of a key. A key of an expression has none there. */
interface KeyPart {
  readonly tableName: string;
  readonly keyName: string;
  readonly name: string | null;
}

function keysOf(parts: readonly KeyPart[]): string[][] {
  const keys = Map.groupBy(parts, ({ keyName }) => keyName).values();
  return [...keys].map((key) => key.map(({ name }) => name?.toLowerCase() ?? ""));
}
