/** Whether the tables and views of a database are those of the contract: columns, and the keys of tables. */
import type { Knex } from "knex";
import {
  type Column,
  definitionOf,
  type Finding,
  LEDGER,
  note,
  problem,
  type StoredColumn,
} from "./ledger.ts";
import { type StoredTable, storedTables } from "./stored.ts";

/** How the server refuses a column: errors by number. */
const REFUSALS = {
  1054: "no column",
  1142: "no right",
  1143: "no right",
  1146: "no table",
  1356: "broken view",
} as const;

/**
 * Compares tables of the ledger with the contract.
 *
 * @param names those to look at; one that the account does not see is told, too
 */
export async function checkLedger(
  database: Knex,
  names: readonly string[] = Object.keys(LEDGER),
): Promise<Finding[]> {
  const stored = await storedTables(database);
  const findings: Finding[] = [];
  for (const name of names) findings.push(...(await checkTable(database, name, stored.get(name))));
  const times = names.flatMap((name) => maybeNullTimes(stored.get(name)));
  if (times.length > 0) {
    findings.push(
      note(
        `for the server these may be NULL, and a row without one counts nowhere: ${times.join(", ")}`,
      ),
    );
  }
  return findings;
}

/** The times of a view that may be NULL for the server, as each CAST to a time may, and must not be. */
function maybeNullTimes(stored: StoredTable | undefined): string[] {
  if (stored?.isView !== true) return [];
  const { columns = {} } = LEDGER[stored.name] ?? {};
  return stored.columns
    .filter(({ name, isNullable }) => {
      const expected = columns[name];
      return isNullable && expected?.kind.type === "datetime(3)" && !expected.nullable;
    })
    .map(({ name }) => `${stored.name}.${name}`);
}

async function checkTable(
  database: Knex,
  name: string,
  stored: StoredTable | undefined,
): Promise<Finding[]> {
  const table = LEDGER[name];
  if (table === undefined) throw new Error(`${name} is not a table of the ledger`);
  const findings: Finding[] = [];
  for (const [column, expected] of Object.entries(table.columns)) {
    const found = stored?.columns.find((one) => one.name === column);
    if (found !== undefined) {
      findings.push(...checkColumn(`${name}.${column}`, expected, found, stored?.isView ?? false));
      continue;
    }
    const refusal = await refusalOf(database, name, column);
    if (refusal === undefined) continue;
    const account = await accountOf(database);
    const missing = describeMissing({ name, column, expected, refusal, account, stored });
    findings.push(problem(missing));
    // The others are missing for the same reason.
    const isWhole = refusal !== "no column" && (stored?.columns.length ?? 0) === 0;
    if (isWhole) return findings;
  }
  return stored === undefined || stored.isView ? findings : [...findings, ...checkKeys(stored)];
}

/** What is wrong with a column that is there. */
function checkColumn(
  name: string,
  { kind, nullable }: Column,
  found: StoredColumn,
  isView: boolean,
): Finding[] {
  const cast = isView && kind.cast !== undefined ? ` (${kind.cast})` : "";
  const right = `${kind.type}${kind.also === undefined ? "" : ` or ${kind.also}`}${cast}`;
  if (!kind.accepts(found)) {
    return [problem(`${name} is ${plainType(found)}: it must be ${right}`)];
  }
  const findings: Finding[] = [];
  if (kind.isIdentifier && !/_bin$|^binary$/.test(found.collation ?? "")) {
    const binary = `${found.collation?.split("_")[0]}_bin`;
    const as = isView ? ` (… COLLATE ${binary})` : "";
    findings.push(
      problem(
        `${name} has the collation ${found.collation}: it must be ascii_bin, or another one that ends in _bin${as}`,
      ),
    );
  }
  if (found.isNullable && !nullable) {
    if (!isView) findings.push(problem(`${name} may be NULL: it must be NOT NULL`));
    // In a view each CAST to a time, and each COLLATE, may be NULL for the server.
    else if (!/char|datetime/.test(kind.type)) {
      findings.push(
        problem(
          `${name} may be NULL in the view: it must have a value in each row, as of COALESCE(…, 0)`,
        ),
      );
    }
  }
  return findings;
}

/** The type without what MariaDB adds: the width of integers, and remarks. */
function plainType({ type }: StoredColumn): string {
  return type.replace(/^(\w*int)\(\d+\)/, "$1").replace(/ \/\*.*/, "");
}

/** The key by which the rows of a provider are found. */
function checkKeys({ name, keys }: StoredTable): Finding[] {
  const { lookup = [] } = LEDGER[name] ?? {};
  if (keys.size > 0 && hasKey(keys, lookup)) return [];
  const columns = lookup.join(", ");
  return [
    problem(
      `${name} has no key that begins with (${columns}): each call would read all of it: ALTER TABLE ${name} ADD KEY (${columns})`,
    ),
  ];
}

/** Whether a key begins with some columns. */
function hasKey(keys: StoredTable["keys"], columns: readonly string[]): boolean {
  return [...keys.values()].some((key) => columns.every((column, nth) => key[nth] === column));
}

interface Missing {
  readonly name: string;
  readonly column: string;
  readonly expected: Column;
  readonly refusal: (typeof REFUSALS)[keyof typeof REFUSALS];
  readonly account: string;
  readonly stored: StoredTable | undefined;
}

/** A column that the account does not see, in words, with what puts it right. */
function describeMissing({ name, column, expected, refusal, account, stored }: Missing): string {
  const seesOthers = (stored?.columns.length ?? 0) > 0;
  switch (refusal) {
    case "no right":
      return seesOthers
        ? `${name}.${column}: this account may not read it: GRANT SELECT ON ${name} TO ${account}`
        : `${name}: this account may not read it, or it is missing: GRANT SELECT ON ${name} TO ${account}`;
    case "no table":
      return `${name} is missing: \`npm run migrate\` makes it, unless you do (docs/adopt.md)`;
    case "broken view":
      return `${name}: its view names what is not there any more, or what its definer may not read`;
    case "no column":
      return stored?.isView
        ? `${name}.${column} is missing in the view: it must be ${expected.kind.type}`
        : `${name}.${column} is missing: ALTER TABLE ${name} ADD COLUMN ${column} ${definitionOf(expected)}`;
  }
}

/** Why the server refuses a column; undefined if it does not. Rejects with other errors. */
async function refusalOf(database: Knex, table: string, column: string) {
  try {
    await database.raw("SELECT ?? FROM ?? LIMIT 0", [column, table]);
    return undefined;
  } catch (error) {
    const refusal = REFUSALS[(error as { errno?: keyof typeof REFUSALS }).errno ?? 1054];
    if (refusal === undefined || !("errno" in (error as object))) throw error;
    return refusal;
  }
}

/** The account of the session, as GRANT takes it. */
async function accountOf(database: Knex): Promise<string> {
  const [[{ account }]] = await database.raw("SELECT CURRENT_USER() AS account");
  return String(account)
    .split("@")
    .map((part) => `'${part}'`)
    .join("@");
}
