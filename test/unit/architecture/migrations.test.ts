/** The schema can be loaded into distributed MySQL databases: Vitess, TiDB, Galera, Group Replication. */
import { posix } from "node:path";
import { expect, it } from "vitest";
import { sources } from "./source.ts";

const migrations = sources.filter(({ path }) => path.includes("/migrations/"));

it("migrations are numbered without a gap, as 0001_name.ts", () => {
  const names = migrations.map(({ path }) => posix.basename(path));
  const numbers = names.map((name) => name.match(/^(\d{4})_[a-z]+(?:_[a-z]+)*\.ts$/)?.[1]);
  expect(numbers).toEqual(names.map((_, index) => `${index + 1}`.padStart(4, "0")));
});

/** Features that at least one of these databases lacks or cannot shard. */
const BANNED = {
  trigger: /\bTRIGGER\b/i,
  "stored procedure or function": /\b(PROCEDURE|FUNCTION|RETURNS)\b/,
  event: /\bCREATE EVENT\b/i,
  "window function": /\bOVER\s*\(/i,
  "JSON column": /\bJSON\b|\bJSON_/i,
  "foreign key": /\b(FOREIGN KEY|REFERENCES)\b/i,
  "lock by name": /\b(GET|RELEASE)_LOCK\b/i,
  partition: /\bPARTITION\b/i,
  "lateral join": /\bLATERAL\b/i,
};

it.each(migrations)(
  "$path is one statement up and one down, because MySQL commits after each DDL statement",
  ({ code }) => {
    expect(code.match(/\.raw\(/g)).toHaveLength(2);
    expect(code).not.toMatch(/;\s*\S.*`\s*\)/);
  },
);

it("migrations may run again", () => {
  const statements = migrations.flatMap(
    ({ code }) => code.match(/\b(CREATE|DROP) TABLE .*/g) ?? [],
  );
  expect(statements.filter((statement) => !/ IF (NOT )?EXISTS /.test(statement))).toEqual([]);
});

it("migrations set the engine, the charset and a binary collation of each table", () => {
  const options = "ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin";
  const creating = migrations.filter(({ code }) => code.includes("CREATE TABLE"));
  expect(creating.filter(({ code }) => !code.includes(options)).map(({ path }) => path)).toEqual(
    [],
  );
});

/** What looks like SQL, by file: the code of a migration, and the literals of the others with a word of it. */
const statements = sources.flatMap(({ path, code }) => {
  if (path.includes("/migrations/")) return [{ path, text: code }];
  return (code.match(/`[^`]*`|"[^"\n]*"/g) ?? [])
    .filter((text) => /\b(SELECT|FROM|WHERE|INSERT|SET)\b/.test(text))
    .map((text) => ({ path, text }));
});

it.each(Object.entries(BANNED))("no statement uses a %s", (_, banned) => {
  expect(statements.filter(({ text }) => banned.test(text))).toEqual([]);
});
