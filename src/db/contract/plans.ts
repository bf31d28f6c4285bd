/**
 * How the database reads the views of the ledger: by an index of the table behind them, and without a temporary table.
 * The server explains that only to an account that may also see the view and read what is behind it.
 */
import type { Knex } from "knex";
import { type Finding, LEDGER, note, problem } from "./ledger.ts";
import { type StoredTable, storedTables } from "./stored.ts";

/** A row of EXPLAIN, with these columns among others. */
type Step = Readonly<
  Record<"select_type" | "table" | "type" | "possible_keys" | "rows", string | null | undefined>
>;

/** The rows of a table, by the server's estimate, up to which reading all of them for each call is only told. */
const FEW = 1_000;

/** The errors of an account that may not see how a view is read. */
const HIDDEN = new Set([1142, 1143, 1345]);

/** Explains how the rows of a provider are found in each view. */
export async function checkPlans(database: Knex): Promise<Finding[]> {
  const stored = await storedTables(database);
  const findings: Finding[] = [];
  const hidden: string[] = [];
  for (const name of Object.keys(LEDGER)) {
    const view = stored.get(name);
    if (view?.isView !== true) continue;
    const steps = await explain(database, view);
    if (steps === undefined) hidden.push(name);
    else findings.push(...judge(name, steps));
  }
  if (hidden.length > 0) {
    findings.push(
      note(
        `not explained, for want of rights, which the service should not have: ${hidden.join(", ")}: ` +
          "`npm run migrate -- --check` explains views to an account with SHOW VIEW on them and SELECT on their tables",
      ),
    );
  }
  return findings;
}

/** The plan of a look-up of a view; undefined if the account may not see it, or the view is broken. */
async function explain(
  database: Knex,
  { name, columns }: StoredTable,
): Promise<readonly Step[] | undefined> {
  const { columns: expected = {}, lookup = [] } = LEDGER[name] ?? {};
  const read = Object.keys(expected).filter((column) => columns.some((one) => one.name === column));
  const [owner] = lookup;
  if (owner === undefined || !read.includes(owner)) return [];
  try {
    const [steps] = await database.raw(
      `EXPLAIN FORMAT=TRADITIONAL SELECT ${read.join(", ")} FROM ${name} WHERE ${owner} = 0`,
    );
    return steps;
  } catch (error) {
    if (HIDDEN.has((error as { errno?: number }).errno ?? 0)) return undefined;
    if ((error as { errno?: number }).errno === 1356) return [];
    throw error;
  }
}

/** What is slow in a plan. */
function judge(name: string, steps: readonly Step[]): Finding[] {
  const [owner = ""] = LEDGER[name]?.lookup ?? [];
  const findings: Finding[] = [];
  const kinds = new Set(steps.map(({ select_type }) => select_type));
  if (["DERIVED", "MATERIALIZED"].some((kind) => kinds.has(kind))) {
    findings.push(
      note(
        `${name}: each statement makes a temporary table of the view (GROUP BY, DISTINCT or UNION): it is right for few rows only`,
      ),
    );
  }
  const scans = steps.filter(
    ({ table, type, possible_keys: keys }) =>
      table && !table.startsWith("<") && /^(ALL|index)$/.test(type ?? "") && !keys,
  );
  for (const { table, rows } of scans) {
    const text = `${name}.${owner}: the view reads all of ${table} for one provider: the column behind ${owner} must be a plain one, with a key that begins with it`;
    findings.push(
      Number(rows) > FEW ? problem(text) : note(`${text}, unless ${table} stays as small as it is`),
    );
  }
  return findings;
}
