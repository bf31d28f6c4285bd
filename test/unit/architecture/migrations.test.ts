/** The schema and the statements suit distributed MySQL databases: Vitess, TiDB, Galera, Group Replication. */
import { posix } from "node:path";
import { expect, it } from "vitest";
import { LEDGER } from "../../../src/db/contract/ledger.ts";
import { sources } from "./source.ts";

const migrations = sources.filter(({ path }) => path.includes("/migrations/"));

it("migrations of both folders are numbered together without a gap, as 0001_name.ts", () => {
  const names = migrations.map(({ path }) => posix.basename(path)).sort();
  const numbers = names.map((name) => name.match(/^(\d{4})_[a-z]+(?:_[a-z]+)*\.ts$/)?.[1]);
  expect(numbers).toEqual(names.map((_, index) => `${index + 1}`.padStart(4, "0")));
});

it("each is one statement up and one down, because MySQL commits after each DDL statement", () => {
  const wrong = migrations.filter(({ code }) => code.match(/\.raw\(/g)?.length !== 2);
  expect(wrong.map(({ path }) => path)).toEqual([]);
});

it("each names the table of its statements, which is one of the ledger in that folder alone", () => {
  for (const { path, code } of migrations) {
    const [, table = ""] = /^export const table = "(\w+)";$/m.exec(code) ?? [];
    const named = code.matchAll(/\b(?:TABLE(?: IF (?:NOT )?EXISTS)?|INTO|FROM) (\w+)/g);
    expect(new Set([...named].map(([, name]) => name)), path).toEqual(new Set([table]));
    expect(path.includes("/ledger/"), path).toBe(table in LEDGER);
  }
});

/** Features that at least one of these databases lacks or cannot shard. */
const BANNED = [
  /\b(TRIGGER|PARTITION|LATERAL)\b/i,
  /\b(PROCEDURE|FUNCTION|RETURNS|CREATE EVENT)\b/,
  /\bOVER\s*\(|\bJSON\b|\bJSON_/i,
  /\b(FOREIGN KEY|REFERENCES)\b/i,
  /\b(GET|RELEASE)_LOCK\b/i,
];

/** What looks like SQL, by file: the code of a migration, and the literals of the others with a word of it. */
const statements = sources.flatMap(({ path, code }) => {
  if (path.includes("/migrations/")) return [{ path, text: code }];
  return (code.match(/`[^`]*`|"[^"\n]*"/g) ?? [])
    .filter((text) => /\b(SELECT|FROM|WHERE|INSERT|SET)\b/.test(text))
    .map((text) => ({ path, text }));
});

it("no statement uses triggers, routines, events, windows, JSON, foreign keys, locks by name, partitions or lateral joins", () => {
  expect(statements.filter(({ text }) => BANNED.some((banned) => banned.test(text)))).toEqual([]);
});

it("no alias is a word that Vitess or TiDB reserves", () => {
  const reserved = /\bAS (now|until)\b/i;
  expect(sources.filter(({ code }) => reserved.test(code)).map(({ path }) => path)).toEqual([]);
});
