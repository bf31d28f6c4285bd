import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

/** The tables that the platform's other services write. Their columns are part of the contract. */
const CONTRACT: Record<string, string> = {
  providers: "id bigint unsigned, name varchar(255), created_at datetime(3)",
  api_keys:
    "id bigint unsigned, provider_id bigint unsigned, name varchar(255), key_hash binary(32), hint varchar(16), created_at datetime(3), expires_at datetime(3) null, revoked_at datetime(3) null",
  wallets: "provider_id bigint unsigned, available_balance decimal(14,2)",
  servers:
    "id bigint unsigned, provider_id bigint unsigned, uuid char(36), name varchar(255), type varchar(255), status varchar(32), price_per_hour decimal(12,4), created_at datetime(3), deleted_at datetime(3) null",
  instances:
    "id bigint unsigned, provider_id bigint unsigned, server_id bigint unsigned, public_id varchar(64), name varchar(255), created_at datetime(3), deleted_at datetime(3) null",
  rentals:
    "id bigint unsigned, provider_id bigint unsigned, server_id bigint unsigned, instance_id bigint unsigned null, started_at datetime(3), ended_at datetime(3) null, updated_at datetime(3)",
  charges:
    "id bigint unsigned, provider_id bigint unsigned, server_id bigint unsigned, instance_id bigint unsigned null, rental_id bigint unsigned null, charged_at datetime(3), gross decimal(14,2), recorded_at datetime(3)",
  payouts:
    "id bigint unsigned, provider_id bigint unsigned, public_id varchar(64), paid_at datetime(3), amount decimal(14,2), method varchar(64), status varchar(32)",
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

describe("the table", () => {
  it.each(Object.entries(CONTRACT))("%s has the columns %s", async (table, columns) => {
    const [rows] = await database.knex.raw(
      `SELECT COLUMN_NAME AS name, COLUMN_TYPE AS type, IS_NULLABLE AS nullable
       FROM information_schema.COLUMNS
       WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION`,
      [database.name, table],
    );
    const described = rows.map(
      ({ name, type, nullable }: Record<string, string>) =>
        // MariaDB reports a display width for integers; MySQL does not.
        `${name} ${type?.replace("bigint(20)", "bigint")}${nullable === "YES" ? " null" : ""}`,
    );
    expect(described.join(", ")).toBe(columns);
  });

  it.each(Object.keys(CONTRACT))(
    "%s uses InnoDB, utf8mb4 and a binary collation",
    async (table) => {
      const [[row]] = await database.knex.raw(
        `SELECT ENGINE AS engine, TABLE_COLLATION AS collation FROM information_schema.TABLES
       WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?`,
        [database.name, table],
      );
      expect(row).toEqual({ engine: "InnoDB", collation: "utf8mb4_bin" });
    },
  );
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
