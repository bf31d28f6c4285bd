/** The service's queries: where they are written, and that each reads the rows of one given provider only. */
import { expect, it } from "vitest";
import { STATEMENT_NAMES, STATEMENTS } from "../../../dev/statements.ts";
import { keysByHash } from "../../../src/auth/key-lookup.ts";
import { PROVIDER_BY_ID } from "../../../src/auth/provider.ts";
import { reachableFrom, sourceAt, sources } from "./source.ts";

const QUERIES = sources.map(({ path }) => path).filter((path) => path.endsWith("/queries.ts"));

/** A table is restricted to the rows of one provider, the one that is given or that of the row before. */
const RESTRICTION = /\bprovider_id = (?:\?|\w+\.provider_id)|\bFROM providers WHERE id = \?/g;

/** The tables that a statement reads, without DUAL, subqueries and the FROM of EXTRACT. */
function tablesOf(sql: string): readonly string[] {
  const reads = sql.replace(/EXTRACT\([^)]*\)/g, "").matchAll(/\b(?:FROM|JOIN)\s+(?!DUAL\b)(\w+)/g);
  return [...reads].map(([, table]) => table ?? "");
}

/** All but the list of providers, which is read on all shards. */
const OF_ONE = STATEMENT_NAMES.filter((name) => name !== "providersAfter");

it("each statement of a provider restricts each table to its rows", () => {
  for (const name of OF_ONE) {
    for (const branch of STATEMENTS[name].sql.split("\nUNION ALL ")) {
      const restrictions = branch.match(RESTRICTION) ?? [];
      expect(tablesOf(branch), branch).not.toEqual([]);
      expect(restrictions.length, branch).toBeGreaterThanOrEqual(tablesOf(branch).length);
    }
  }
});

it("the lookup of a provider reads its row by the primary key; that of a key finds the provider by a unique hash", () => {
  expect(PROVIDER_BY_ID).toBe("SELECT CAST(id AS CHAR) FROM providers WHERE id = ?");
  expect(keysByHash(2)).toMatch(
    /^SELECT .* CAST\(provider_id AS CHAR\), .* FROM api_keys WHERE key_hash IN \(UNHEX\(\?\), UNHEX\(\?\)\)$/,
  );
});

/** The files that may contain SQL of the service. */
const HOMES = [
  ...QUERIES,
  ...["auth/key-lookup", "auth/provider"],
  // Expressions for the queries that read rollups, and of lists with pages.
  ...["rollup/coverage", "rollup/read/facts", "rollup/read/missing", "rollup/read/stored"],
  ...["revenue/wallet", "revenue/pages"],
  // These two build statements from what they are given.
  ...["db/query", "db/statement"],
  // One row, or rows that no provider owns: the heartbeat, the key of page tokens, which migrations ran.
  ...["db/freshness", "db/page-token-key", "db/pending-migrations"],
  // What the server says of tables and columns, and explains.
  ...["db/contract/columns", "db/contract/plans", "db/contract/stored"],
  ...["rollup/write/run/keys", "rollup/write/run/recording"],
].map((path) => path.replace(/^(?!src)(.*)$/, "src/$1.ts"));

const service = [...reachableFrom(["src/main.ts"])].sort();

it("no other file that the service imports contains a statement", () => {
  const SQL = /\bSELECT\b[^;]*\bFROM\b|\bINSERT INTO\b|\bUPDATE \w+ SET\b|\bDELETE FROM\b/;
  const writers = service.filter((path) => SQL.test(sourceAt(path).code));
  expect(writers.filter((path) => !HOMES.includes(path))).toEqual([]);
});

it("the service does not import what writes keys", () => {
  expect(service).not.toContain("src/auth/key-registry.ts");
});
