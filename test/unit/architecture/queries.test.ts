/** The service's queries: where they are written, and that each reads the rows of one given provider only. */
import { expect, it } from "vitest";
import { STATEMENT_NAMES, STATEMENTS } from "../../../dev/statements.ts";
import { keysByHash } from "../../../src/auth/key-lookup.ts";
import { PROVIDER_BY_ID } from "../../../src/auth/provider.ts";
import { reachableFrom, sourceAt, sources } from "./source.ts";

const QUERIES = sources.map(({ path }) => path).filter((path) => path.endsWith("/queries.ts"));

/** A table is restricted to the rows of one provider, the one that is given or that of the row before. */
const RESTRICTION = /\bprovider_id = (?:\?|\w+\.provider_id)/g;

/** The tables that a statement reads, without DUAL, subqueries and the FROM of EXTRACT. */
function tablesOf(sql: string): readonly string[] {
  const reads = sql.replace(/EXTRACT\([^)]*\)/g, "").matchAll(/\b(?:FROM|JOIN)\s+(?!DUAL\b)(\w+)/g);
  return [...reads].map(([, table]) => table ?? "");
}

/** The list of providers: it is read on all shards. */
const OF_ALL = ["providersAfter"] as const;
const OF_ONE = STATEMENT_NAMES.filter((name) => !OF_ALL.some((other) => other === name));

it.each(OF_ONE)("%s restricts each table to the rows of one provider", (name) => {
  for (const branch of STATEMENTS[name].sql.split("\nUNION ALL ")) {
    const restrictions = branch.match(RESTRICTION) ?? [];
    expect(tablesOf(branch), branch).not.toEqual([]);
    expect(restrictions.length, branch).toBeGreaterThanOrEqual(tablesOf(branch).length);
  }
});

it("only the list of providers is of all of them: it reads a page by the primary key", () => {
  expect(STATEMENTS.providersAfter.sql.replaceAll(/\s+/g, " ")).toMatch(
    /^SELECT 0, CAST\(UTC_TIMESTAMP\(3\) AS CHAR\), CAST\(page\.id AS CHAR\), CAST\(page\.name AS CHAR\) FROM \(SELECT 1 AS one\) AS single LEFT JOIN \( SELECT id, name FROM providers WHERE id > CAST\(\? AS DECIMAL\(20,0\)\) ORDER BY id LIMIT 1001 \) AS page ON one = 1$/,
  );
});

it("the lookup of a provider reads its row by the primary key; that of a key finds the provider by a unique hash", () => {
  expect(PROVIDER_BY_ID).toBe("SELECT id FROM providers WHERE id = ?");
  expect(keysByHash(2)).toMatch(
    /^SELECT .* provider_id, .* FROM api_keys WHERE key_hash IN \(UNHEX\(\?\), UNHEX\(\?\)\)$/,
  );
});

/** The files that may contain SQL of the service. */
const HOMES = [
  ...QUERIES,
  "src/auth/key-lookup.ts",
  "src/auth/provider.ts",
  // Expressions for the queries that read rollups.
  "src/rollup/coverage.ts",
  "src/rollup/read/facts.ts",
  "src/rollup/read/missing.ts",
  "src/rollup/read/stored.ts",
  "src/revenue/wallet.ts",
  // These two build statements from what they are given.
  "src/db/query.ts",
  "src/db/statement.ts",
  // What the statements of lists with pages share.
  "src/revenue/pages.ts",
  // Reads one row, the heartbeat. No provider owns it.
  "src/db/freshness.ts",
  // Read what the server says of tables and columns, and explain.
  "src/db/contract/columns.ts",
  "src/db/contract/plans.ts",
  "src/db/contract/stored.ts",
  "src/rollup/write/run/keys.ts",
  "src/rollup/write/run/recording.ts",
  // Reads one row, the key of page tokens, of the provider 0.
  "src/db/page-token-key.ts",
  // Reads which migrations ran. No provider owns these rows.
  "src/db/pending-migrations.ts",
];

it("no alias is a word that Vitess or TiDB reserves", () => {
  const reserved = /\bAS (now|until)\b/i;
  expect(sources.filter(({ code }) => reserved.test(code)).map(({ path }) => path)).toEqual([]);
});

const service = [...reachableFrom(["src/main.ts"])].sort();

it("no other file that the service imports contains a statement", () => {
  const SQL = /\bSELECT\b[^;]*\bFROM\b|\bINSERT INTO\b|\bUPDATE \w+ SET\b|\bDELETE FROM\b/;
  const writers = service.filter((path) => SQL.test(sourceAt(path).code));
  expect(writers.filter((path) => !HOMES.includes(path))).toEqual([]);
});

it("the service builds no query with Knex, except the list of the migrations that ran", () => {
  const builds = /\b(database|knex|transaction)\("(\w+)"\)/g;
  const built = service.flatMap((path) =>
    [...sourceAt(path).code.matchAll(builds)].map(([, , table]) => `${path}: ${table}`),
  );
  expect(built).toEqual(["src/db/pending-migrations.ts: knex_migrations"]);
});

it("the service writes nothing, and does not import the key registry", () => {
  const writes = /\.(insert|update|del|delete|merge|increment)\(/;
  const onDatabase = service.map(sourceAt).filter(({ imports }) => imports.includes("knex"));
  expect(onDatabase.filter(({ code }) => writes.test(code)).map(({ path }) => path)).toEqual([]);
  expect(service).not.toContain("src/auth/key-registry.ts");
});
