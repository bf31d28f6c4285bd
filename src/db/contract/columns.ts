/** Whether the tables and views of a database are those of the contract: columns, and the keys of tables. */
import type { Knex } from "knex";
import { type Column, LEDGER, type LedgerTable, type StoredColumn } from "./ledger.ts";
import { type StoredTable, storedTables } from "./stored.ts";

/**
 * Compares tables of the ledger with the contract. Resolves to a line for each thing that is wrong.
 *
 * @param names those to look at
 */
export async function checkLedger(
  database: Knex,
  names: readonly string[] = Object.keys(LEDGER),
): Promise<string[]> {
  const stored = await storedTables(database);
  return names.flatMap((name) => {
    const table = LEDGER[name];
    if (table === undefined) throw new Error(`${name} is not a table of the ledger`);
    return checkTable(name, table, stored.get(name));
  });
}

function checkTable(name: string, table: LedgerTable, stored: StoredTable | undefined): string[] {
  if (stored === undefined || stored.columns.length === 0) {
    return [`${name} is missing or a broken view, or this account may not read it`];
  }
  const wrong = Object.entries(table.columns).flatMap(([column, expected]) => {
    const found = stored.columns.find((one) => one.name === column);
    if (found !== undefined) {
      return checkColumn(`${name}.${column}`, expected, found, stored.isView);
    }
    const { type } = expected.kind;
    return [`${name}.${column} is missing, or this account may not read it: it must be ${type}`];
  });
  return stored.isView ? wrong : [...wrong, ...checkKeys(stored, table.lookup)];
}

/** What is wrong with a column that is there. */
function checkColumn(
  name: string,
  { kind, nullable }: Column,
  found: StoredColumn,
  isView: boolean,
): string[] {
  if (!kind.accepts(found.type)) {
    const also = kind.also === undefined ? "" : ` or ${kind.also}`;
    const cast = isView && kind.cast !== undefined ? ` (${kind.cast})` : "";
    return [`${name} is ${plainType(found)}: it must be ${kind.type}${also}${cast}`];
  }
  const wrong: string[] = [];
  if (kind.isIdentifier && !/_bin$|^binary$/.test(found.collation ?? "")) {
    const as = isView ? ` (… COLLATE ${found.collation?.split("_")[0]}_bin)` : "";
    wrong.push(
      `${name} has the collation ${found.collation}: it must be ascii_bin, or another one that ends in _bin${as}`,
    );
  }
  // Of a view the server says so of each CAST and COLLATE, too: there the rows are counted (rows.ts).
  if (found.isNullable && !nullable && !isView) {
    wrong.push(`${name} may be NULL: it must be NOT NULL`);
  }
  return wrong;
}

/** The type without what MariaDB adds: the width of integers, and remarks. */
function plainType({ type }: StoredColumn): string {
  return type.replace(/^(\w*int)\(\d+\)/, "$1").replace(/ \/\*.*/, "");
}

/** The key by which the rows of a provider are found. */
function checkKeys({ name, keys }: StoredTable, lookup: LedgerTable["lookup"]): string[] {
  const begins = (key: readonly string[]) => lookup.every((column, nth) => key[nth] === column);
  if (keys.some(begins)) return [];
  return [
    `${name} has no key that begins with (${lookup.join(", ")}): each call would read all of it`,
  ];
}
