/** The contract with the platform's writers is what the statements read, as the documents have it. */
import { expect, it } from "vitest";
import { serviceStatements } from "../../../src/cli/statements.ts";
import { LEDGER } from "../../../src/db/contract/ledger.ts";
import { KEYS } from "../../../src/rollup/write/ledger.ts";
import { page, tableIn } from "../../docs/markdown.ts";
import { sources } from "./source.ts";

const documented = page("docs/data-model.md")
  .split("\n### ")
  .slice(1)
  .map((text) => [text.split("\n")[0] ?? "", text.split("\n## ")[0] ?? ""] as const);

/** What only `npm run key` reads. */
const OF_KEYS = ["api_keys.hint", "api_keys.created_at"];

it("it has each column that a statement reads, and no other", () => {
  const texts = Object.values(serviceStatements(true)).flatMap((sql) => sql.split("\nUNION ALL "));
  for (const [table, text] of documented) {
    const reading = texts.filter((sql) => new RegExp(`\\b(FROM|JOIN) ${table}\\b`).test(sql));
    const columns = tableIn(text, "column", "type", "meaning").map(([name = ""]) =>
      name.replaceAll("`", ""),
    );
    const read = columns.filter((name) =>
      reading.some((sql) => new RegExp(`\\b${name}\\b`).test(sql)),
    );
    const expected = Object.keys(LEDGER[table]?.columns ?? {}).filter(
      (name) => !OF_KEYS.includes(`${table}.${name}`),
    );
    expect(read, table).toEqual(expected);
  }
});

it("the keys that rollups name are all that their statements force", () => {
  const writing = sources.filter(({ path }) => path.startsWith("src/rollup/write/"));
  const others = writing.filter(({ path }) => !path.endsWith("/write/ledger.ts"));
  const named = new Set(
    others.flatMap(({ code }) => code.match(/\b(charges|rentals)_by_\w+/g) ?? []),
  );
  const listed = Object.values(KEYS).filter((key) => key !== "PRIMARY");
  expect([...named].sort()).toEqual([...listed].sort());
});
