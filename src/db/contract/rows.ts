/**
 * What is wrong with the rows of adopted tables and views, counted. Keys and types of the tables that `npm run migrate`
 * makes exclude most of it; a view may have anything.
 */
import type { Knex } from "knex";
import { failureOf } from "../driver-error.ts";
import { dateExists } from "../sql-time.ts";
import { LEDGER } from "./ledger.ts";

/** One SELECT, with a row: how many are wrong (`found`), and the key of one of them (`example`). */
export interface Count {
  /** Those that it reads: it is made if one of them is adopted. */
  readonly tables: readonly string[];
  readonly sql: string;
  /** What is wrong; a number follows. */
  readonly wrong: string;
  /** What is right. */
  readonly right: string;
}

/** The columns that name a row, for people. */
const NAMED_BY: Readonly<Record<string, readonly string[]>> = {
  providers: ["id"],
  api_keys: ["id"],
  wallets: ["provider_id"],
  servers: ["provider_id", "id"],
  instances: ["provider_id", "id"],
  rentals: ["provider_id", "server_id", "started_at"],
  charges: ["provider_id", "id"],
  payouts: ["provider_id", "id"],
};

/** SQL: columns and their values, as text. */
const named = (columns: readonly string[]) =>
  `CONCAT_WS(', ', ${columns.map((column) => `CONCAT('${column} ', ${column})`).join(", ")})`;

/**
 * Each instant that is none, by column. One before 1971 is the 0 of a ledger that counts seconds, and one of 9999 its
 * "never".
 */
const INSTANTS: readonly Count[] = Object.entries(LEDGER).flatMap(([table, { columns }]) =>
  Object.entries(columns)
    .filter(([, { kind }]) => kind.type === "datetime(3)")
    .map(([column, { nullable }]) => ({
      tables: [table],
      sql: `SELECT COUNT(*) AS found, MIN(${named(NAMED_BY[table] ?? [])}) AS example
        FROM ${table} WHERE ${nullable ? `${column} IS NOT NULL AND ` : ""}NOT (${dateExists(column)} AND ${column} >= '1971-01-01' AND ${column} < '9999-01-01')`,
      wrong: `${table}.${column} is ${nullable ? "" : "NULL or "}no date from 1971 to 9998`,
      right: nullable
        ? "NULL is the right one for none"
        : "a row must have an instant in UTC, or not be in the view (CONVERT_TZ with the name of a zone is NULL on a server without zone tables)",
    })),
);

/** Each row of a table without a value where there must be one. The example begins with its column. */
const MISSING: readonly Count[] = Object.entries(LEDGER).map(([table, { columns }]) => {
  const needed = Object.keys(columns).filter((column) => {
    const { kind, nullable } = columns[column] ?? {};
    return !nullable && kind?.type !== "datetime(3)";
  });
  const missing = needed.map((column) => `IF(${column} IS NULL, '${column} NULL', NULL)`);
  return {
    tables: [table],
    sql: `SELECT COUNT(*) AS found, MIN(CONCAT_WS(', ', ${missing.join(", ")}, ${named(NAMED_BY[table] ?? [])})) AS example
      FROM ${table} WHERE ${needed.map((column) => `${column} IS NULL`).join(" OR ")}`,
    wrong: `${table} without a value`,
    right:
      "an amount needs COALESCE around all of it; a row that belongs to nobody needs an owner, or is left out",
  };
});

/** Each payout that takes another one back. */
const TAKEN_BACK: Count = {
  tables: ["payouts"],
  sql: `SELECT COUNT(*) AS found, MIN(${named(NAMED_BY.payouts ?? [])}) AS example FROM payouts WHERE amount < 0`,
  wrong: "payouts below zero",
  right: "a payout that came back is Failed, and the row that takes it back is not in the view",
};

/** Each key that comes twice. */
const TWICE: readonly Count[] = (
  [
    ["providers", ["id"]],
    ["wallets", ["provider_id"]],
    ["servers", ["provider_id", "id"]],
    ["instances", ["provider_id", "id"]],
    ["charges", ["provider_id", "charged_at", "id"]],
    ["payouts", ["provider_id", "paid_at", "id"]],
  ] as const
).map(([table, key]) => ({
  tables: [table],
  sql: `SELECT COUNT(*) AS found, MIN(example) AS example FROM
    (SELECT ${named(key)} AS example FROM ${table} GROUP BY ${key.join(", ")} HAVING COUNT(*) > 1) AS doubles`,
  wrong: `${table} has more than one row of the same (${key.join(", ")})`,
  right:
    "one row each: two tenants, currencies or sources need databases, or numbers, of their own",
}));

/** Each row of a server, or of a provider, that is not there. */
const LOST: readonly Count[] = [
  {
    tables: ["servers", "providers"],
    sql: `SELECT COUNT(*) AS found, MIN(${named(NAMED_BY.servers ?? [])}) AS example FROM servers
      WHERE NOT EXISTS (SELECT id FROM providers WHERE providers.id = servers.provider_id)`,
    wrong: "servers of no provider",
    right: "a provider stays in the view, and servers of other tenants are not in it",
  },
  ...["charges", "rentals"].map((table) => ({
    tables: [table, "servers"],
    sql: `SELECT COALESCE(SUM(number), 0) AS found, MIN(${named(["provider_id", "server_id"])}) AS example FROM
      (SELECT provider_id, server_id, COUNT(*) AS number FROM ${table} GROUP BY provider_id, server_id) AS owners
      WHERE NOT EXISTS (SELECT id FROM servers
        WHERE servers.provider_id = owners.provider_id AND servers.id = owners.server_id)`,
    wrong: `${table} of no server of their provider`,
    right: "a server stays in the view when it is deleted, and what belongs to none needs one, too",
  })),
];

/** All that is counted. */
export const COUNTS: readonly Count[] = [...INSTANTS, ...MISSING, TAKEN_BACK, ...TWICE, ...LOST];

/**
 * Counts what is wrong with the rows of some tables. Resolves to a line for each count that is not zero, or that the
 * server has not ended in the time that a statement of the session may take.
 *
 * @param adopted the tables that `npm run migrate` has not made
 */
export async function checkRows(
  database: Knex,
  adopted: ReadonlySet<string>,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { tables, sql, wrong, right } of COUNTS) {
    if (!tables.some((table) => adopted.has(table))) continue;
    try {
      const [[{ found, example }]] = await database.raw(sql);
      if (Number(found) > 0) lines.push(`${wrong}: ${found}, for example ${example}: ${right}`);
    } catch (error) {
      const failure = failureOf(error);
      if (failure !== undefined && failure !== "ended") throw error;
      const { sqlMessage, message } = error as Error & { readonly sqlMessage?: string };
      lines.push(`${wrong}: not counted: ${sqlMessage ?? message}`);
    }
  }
  return lines;
}

/** A warning for our own table of charges that nobody fills, beside adopted tables; undefined if there is none. */
export async function warnOfEmptyCharges(
  database: Knex,
  adopted: ReadonlySet<string>,
): Promise<string | undefined> {
  if (adopted.size === 0 || adopted.has("charges")) return undefined;
  if (!(await database.schema.hasTable("charges"))) return undefined;
  const [rows] = await database.raw("SELECT id FROM charges LIMIT 1");
  return rows.length > 0
    ? undefined
    : "charges is a table of this service and empty, so every provider has earned nothing: fill it, or make a view of that name before `npm run migrate`";
}
