/** The SQL of the service's statements. */
import { describe, expect, it } from "vitest";
import {
  branchesOf,
  STATEMENT_NAMES,
  STATEMENTS,
  type StatementName,
} from "../../support/statements.ts";

/** The queries of a statement, with the name of each parameter: `provider_id = :provider`. */
function queriesOf(name: StatementName): string[] {
  const statement = STATEMENTS[name];
  const names = Object.fromEntries(statement.parameters.map((name) => [name, name]));
  return branchesOf(statement, names).map(({ sql, bindings }) => {
    const inOrder = bindings.values();
    return sql.replaceAll("?", () => `:${inOrder.next().value}`);
  });
}

/** What a WHERE begins with: one provider, or those of the places of a statement for several. */
const RESTRICTION =
  /^WHERE (provider_id = :provider\d?\b|provider_id IN \(:provider0(, :provider\d)+\)|\(provider_id = :provider0\b)/;

/** Replaces each subquery `(SELECT …)` by `()`. */
function withoutSubqueries(sql: string): string {
  const at = sql.indexOf("(SELECT ");
  if (at === -1) return sql;
  let [end, open] = [at + 1, 1];
  for (; open > 0; end++) open += { "(": 1, ")": -1 }[sql[end] ?? ""] ?? 0;
  return withoutSubqueries(`${sql.slice(0, at)}()${sql.slice(end)}`);
}

describe.each(STATEMENT_NAMES)("%s", (name) => {
  it("selects only the rows of its providers, in every query", () => {
    for (const text of queriesOf(name)) {
      // A lookup for each row of a query, which itself selects those of one provider.
      const sql = text.replaceAll(
        /FROM rollup_rentals AS held\s+WHERE held\.provider_id = rentals\.provider_id AND/g,
        "FROM DUAL ON",
      );
      const reads = [
        ...sql.replace(/EXTRACT\([^)]*\)/g, "").matchAll(/\bFROM (?!DUAL\b)(\w+)\s+/g),
      ];
      const wheres = [...sql.matchAll(/\bWHERE\b/g)];
      expect(wheres, sql).toHaveLength(reads.length);
      for (const { index } of wheres) expect(sql.slice(index)).toMatch(RESTRICTION);
      if (!sql.endsWith("FROM DUAL")) expect(reads.length, sql).toBeGreaterThan(0);
    }
  });

  it("compares the values of a provider with its own rows only", () => {
    for (const sql of queriesOf(name)) {
      for (const [, condition] of sql.matchAll(/\bOR \((\w+ = :\w+)/g)) {
        expect(condition).toMatch(/^provider_id = :provider\d$/);
      }
      // From one provider's condition to the next, all parameters are of its place.
      for (const [text, place] of sql.matchAll(
        /provider_id = :provider(\d?)(?:(?!provider_id).)*/gs,
      )) {
        for (const [, found] of text.matchAll(/:[a-z]\w*?(\d?)\b/gi))
          expect(found, text).toBe(place);
      }
    }
  });

  it("selects only constants and scalar subqueries from DUAL", () => {
    for (const sql of queriesOf(name).filter((sql) => sql.endsWith(" FROM DUAL"))) {
      expect(withoutSubqueries(sql)).toMatch(
        /^SELECT \d+(, (NULL|CAST\((\(\)|UTC_TIMESTAMP\(3\)|COALESCE\(\(\), (\d+|'[^']*')\)) AS CHAR\)))+ FROM DUAL$/,
      );
    }
  });
});
