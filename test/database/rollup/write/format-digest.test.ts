/**
 * What a rollup of this format holds, as digests beside the format's number. A program reads what another one
 * of the same format has stored, so what it means may not change without another number.
 */
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import type { Length } from "../../../../src/rollup/stretches.ts";
import { CHARGE_NAMES, FORMAT, SUM_NAMES, SUMS, typeOf } from "../../../../src/rollup/sums.ts";
import { databaseOfFile } from "../../file-database.ts";
import { build, charge, DAY, FIVE_MINUTES, MONTH, rental } from "./built.ts";

/** The number, and digests of what it stands for. They change together. */
const KNOWN = {
  format: 6,
  sums: "d45c79d7d8835ed9",
  tables: "b4bf33bcf2ac871a",
  boundaries: "8012845f9a3ad0cc",
};

const MESSAGE = `What a rollup holds is not what format ${KNOWN.format} stands for.
Rollups of it are stored in databases, and would be read with another meaning: raise FORMAT in src/rollup/sums.ts,
and note it and the new digests here. Only if every stored row keeps its meaning, as it does where SQL is written
in another way, note the digests alone`;

const { knex, name } = await databaseOfFile();

/** A table as the migrations leave it. Defaults are for programs that do not know a column. */
async function readTable(table: string) {
  const of = { TABLE_SCHEMA: name, TABLE_NAME: table };
  const columns = await knex("information_schema.COLUMNS").where(of).orderBy("ORDINAL_POSITION");
  const key = await knex("information_schema.STATISTICS")
    .where({ ...of, INDEX_NAME: "PRIMARY" })
    .orderBy("SEQ_IN_INDEX")
    .pluck("COLUMN_NAME");
  return {
    columns: columns.map(({ COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLLATION_NAME }) => [
      COLUMN_NAME,
      // MariaDB tells how wide integers are shown: bigint(20).
      COLUMN_TYPE.replace(/int\(\d+\)/, "int"),
      IS_NULLABLE,
      COLLATION_NAME,
    ]),
    key,
  };
}

/** What the sums are made of. Their words are for messages. */
const sums = SUM_NAMES.map((sum) => {
  const { table, datedBy, adds } = SUMS[sum];
  return [sum, table, datedBy, adds, typeOf(sum)];
});

const [RECORDED, WATERMARK] = ["2025-12-01", "2025-12-31 12:00:00.000"] as const;
/** Several owners, a refund, turns of a year and of a month, dates that do not exist, and what is not covered. */
const CHARGES = [
  charge("2024-12-31 23:59:59.999", RECORDED, "1.01"),
  charge("2025-01-01 00:00:00.000", RECORDED, "20.02"),
  charge("2025-03-01 06:15:00.000", RECORDED, "-3.03", 2),
  charge("2025-03-01 06:20:00.001", RECORDED, "400.04", 2),
  { ...charge("2025-03-02 17:00:00.000", RECORDED, "0.50"), instance_id: 7 },
  charge("2025-02-30 12:00:00.000", RECORDED, "7.07"),
  charge("2025-03-03 00:00:00.000", "2026-01-01", "6.06"),
];
const RENTALS = [
  rental("2024-12-30 22:00:00.000", "2025-01-02 03:04:05.006", RECORDED),
  rental("2025-03-01 06:00:00.000", "2025-03-01 06:00:00.000", RECORDED, 2),
  rental("0000-00-00 00:00:00.000", "2025-03-00 00:00:00.000", RECORDED),
  rental("2025-03-01 07:00:00.000", null, RECORDED, 2),
];

/** The stored rows of the ledger, with leaves of some lengths. */
async function readBoundaries(leaf: Length) {
  await build(knex, "1", WATERMARK, leaf);
  const { slot } = await knex(TABLES.rollups).where({ building: 0 }).first();
  const columns = ["total", "at", "server_id", "instance_id", ...SUM_NAMES];
  const rows = await knex(TABLES.sums).where({ slot }).orderBy(columns).select(columns);
  expect(rows.length).toBeGreaterThan(0);
  const quarters = ["", "_1", "_2", "_3", "_4"];
  const ofQuarters = quarters.flatMap((nth) => CHARGE_NAMES.map((sum) => `${sum}${nth}`));
  const charged = ["length", "part", "at", ...ofQuarters];
  const increments = await knex(TABLES.increments).where({ slot }).orderBy(charged).select(charged);
  return [
    ...rows.map((row) => columns.map((column) => String(row[column]))),
    ...increments.map((row) => charged.map((column) => String(row[column]))),
  ];
}

it("is what its number stands for: the sums, the tables, and the boundaries of a ledger", async () => {
  await knex("charges").insert(CHARGES);
  await knex("rentals").insert(RENTALS);
  const boundaries = [
    await readBoundaries(DAY),
    await readBoundaries(FIVE_MINUTES),
    await readBoundaries(MONTH),
  ];
  const tables = [
    await readTable(TABLES.rollups),
    await readTable(TABLES.sums),
    await readTable(TABLES.increments),
  ];
  const found = { sums: digest(sums), tables: digest(tables), boundaries: digest(boundaries) };
  expect({ format: FORMAT, ...found }, MESSAGE).toEqual(KNOWN);
});

const digest = (value: unknown) =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
