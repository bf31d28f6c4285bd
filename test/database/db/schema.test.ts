/** The schema beyond its columns, which test/docs/data-model.test.ts compares with the documentation. */
import { describe, expect, it } from "vitest";
import { databaseOfFile } from "../file-database.ts";

const database = await databaseOfFile();

it("every table uses InnoDB, utf8mb4 and a binary collation", async () => {
  const [tables] = await database.knex.raw(
    `SELECT TABLE_NAME AS name, ENGINE AS engine, TABLE_COLLATION AS collation
     FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME NOT LIKE '%migration%'`,
    [database.name],
  );
  expect(tables.length).toBeGreaterThan(10);
  for (const { name, ...options } of tables) {
    expect(options, name).toEqual({ engine: "InnoDB", collation: "utf8mb4_bin" });
  }
});

describe("the database sets", () => {
  const now = async () => (await database.knex.raw("SELECT NOW(3) AS now"))[0][0].now;

  it("recorded_at of a charge, when it is inserted, in UTC", async () => {
    const before = await now();
    await database.knex("charges").insert({
      provider_id: 1,
      server_id: 1,
      charged_at: "2026-01-01 00:00:00.000",
      gross: "1.00",
    });
    const { recorded_at } = await database.knex("charges").first("recorded_at");
    expect(before <= recorded_at && recorded_at <= (await now())).toBe(true);
  });

  it("updated_at of a rental, at every update", async () => {
    const updatedAt = async () => (await database.knex("rentals").first("updated_at")).updated_at;
    const rental = { provider_id: 1, server_id: 1, started_at: "2026-01-01 00:00:00.000" };
    await database.knex("rentals").insert({ ...rental, updated_at: "2026-01-01 00:00:00.000" });
    const before = await now();
    await database.knex("rentals").update({ ended_at: "2026-01-02 00:00:00.000" });
    expect(before <= (await updatedAt()) && (await updatedAt()) <= (await now())).toBe(true);
  });
});

it("the schema has nothing that distributed MySQL databases cannot load", async () => {
  const count = async (table: string, column: string) => {
    const [[row]] = await database.knex.raw(
      `SELECT COUNT(*) AS count FROM information_schema.${table} WHERE ${column} = ?`,
      [database.name],
    );
    return Number(row.count);
  };
  expect(await count("TRIGGERS", "TRIGGER_SCHEMA")).toBe(0);
  expect(await count("ROUTINES", "ROUTINE_SCHEMA")).toBe(0);
  expect(await count("EVENTS", "EVENT_SCHEMA")).toBe(0);
  expect(await count("PARTITIONS", "PARTITION_NAME IS NOT NULL AND TABLE_SCHEMA")).toBe(0);
});
