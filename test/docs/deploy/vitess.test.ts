/** The vschema has a place for the rows of every table: with those of its provider, on all shards, or in `shared`. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { databaseOfFile } from "../../database/file-database.ts";

const FOLDER = new URL("../../../deploy/clusters/vitess/", import.meta.url);
const { tables } = JSON.parse(readFileSync(new URL("revenue.json", FOLDER), "utf8"));
const { rules } = JSON.parse(readFileSync(new URL("routing-rules.json", FOLDER), "utf8"));
/** Tables that the service reads elsewhere than on the shards. */
const ELSEWHERE = ["api_keys", "knex_migrations"];
const shared = readFileSync(new URL("shared.sql", FOLDER), "utf8");

type Column = Record<"name" | "table" | "auto", string>;

const database = await databaseOfFile();
const [columns] = await database.knex.raw(
  `SELECT table_name AS \`table\`, column_name AS name, extra LIKE '%auto_increment%' AS auto
   FROM information_schema.COLUMNS WHERE table_schema = DATABASE()`,
);
const byTable = Object.entries(Object.groupBy(columns as Column[], ({ table }) => table));

it.each(byTable)("table %s", (table, own = []) => {
  const place = { column: table === "providers" ? "id" : "provider_id", name: "provider" };
  const isOfProvider = own.some(({ name }) => name === place.column);
  if (!isOfProvider || table.startsWith("knex")) {
    expect(tables[table]).toEqual({ type: "reference" });
    return;
  }
  expect(tables[table].column_vindexes[0]).toEqual(place);
  if (ELSEWHERE.includes(table)) return;
  const generated = own.find(({ auto }) => Number(auto) === 1)?.name;
  const sequence = generated && { column: generated, sequence: `shared.${table}_seq` };
  expect(tables[table].auto_increment).toEqual(sequence);
  if (sequence) expect(shared).toContain(`CREATE TABLE ${table}_seq `);
});

it("routes the others to the keyspace `shared`, which has them", () => {
  const routed = ELSEWHERE.map((table) => {
    return { from_table: `revenue.${table}`, to_tables: [`shared.${table}`] };
  });
  expect(rules).toEqual(routed);
  const shared = JSON.parse(readFileSync(new URL("shared.json", FOLDER), "utf8"));
  expect(Object.keys(shared.tables)).toEqual(expect.arrayContaining(ELSEWHERE));
});
