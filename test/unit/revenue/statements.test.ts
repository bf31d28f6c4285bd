/** The SQL of the service's statements. */
import { describe, expect, it } from "vitest";
import {
  branchesOf,
  STATEMENT_NAMES,
  STATEMENTS,
  type StatementName,
} from "../../support/statements.ts";

/** The queries of a statement, with each parameter bound to its own name. */
function queriesOf(name: StatementName) {
  const statement = STATEMENTS[name];
  return branchesOf(
    statement,
    Object.fromEntries(statement.parameters.map((name) => [name, name])),
  );
}

/** Replaces each subquery `(SELECT …)` by `()`. */
function withoutSubqueries(sql: string): string {
  const at = sql.indexOf("(SELECT ");
  if (at === -1) return sql;
  let [end, open] = [at + 1, 1];
  for (; open > 0; end++) open += { "(": 1, ")": -1 }[sql[end] ?? ""] ?? 0;
  return withoutSubqueries(`${sql.slice(0, at)}()${sql.slice(end)}`);
}

describe.each(STATEMENT_NAMES)("%s", (name) => {
  it("selects only the rows of one provider, in every query", () => {
    for (const { sql: text, bindings } of queriesOf(name)) {
      // A lookup for each row of a query, which itself selects those of one provider.
      const sql = text.replaceAll(
        /FROM rollup_rentals AS held\s+WHERE held\.provider_id = rentals\.provider_id AND/g,
        "FROM DUAL ON",
      );
      const reads = sql
        .replace(/EXTRACT\([^)]*\)/g, "")
        .matchAll(/\bFROM (?!DUAL\b)(\w+)(\s+WHERE \S+ = \?)?/g);
      for (const [, table, where] of reads) {
        expect(where?.trim(), `${table} in ${sql}`).toBe("WHERE provider_id = ?");
      }
      expect(sql.match(/\bWHERE\b/g)).toHaveLength(
        sql.match(/\bWHERE provider_id = \?/g)?.length ?? 0,
      );
      expect(bindings).toContain("provider");
    }
  });

  it("selects only constants and scalar subqueries from DUAL", () => {
    const branches = queriesOf(name).map(({ sql }) => sql);
    for (const sql of branches.filter((sql) => sql.endsWith(" FROM DUAL"))) {
      expect(withoutSubqueries(sql)).toMatch(
        /^SELECT \d+(, (NULL|CAST\((\(\)|COALESCE\(\(\), (\d+|'[^']*')\)) AS CHAR\)))+ FROM DUAL$/,
      );
    }
  });
});
