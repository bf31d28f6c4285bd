/** What the schema does beyond its columns, which test/docs/data-model.test.ts compares with the documentation. */
import { describe, expect, it } from "vitest";
import { databaseOfFile } from "../file-database.ts";

const database = await databaseOfFile();

describe("the database sets", () => {
  const owner = { provider_id: 1, server_id: 1 };
  const now = async () => (await database.knex.raw("SELECT NOW(3) AS now"))[0][0].now;

  it("recorded_at of a charge, when it is inserted, in UTC", async () => {
    const before = await now();
    await database.knex("charges").insert({ ...owner, charged_at: "2026-01-01", gross: "1.00" });
    const { recorded_at } = await database.knex("charges").first("recorded_at");
    expect(before <= recorded_at && recorded_at <= (await now())).toBe(true);
  });

  it("updated_at of a rental, at every update", async () => {
    const updatedAt = async () => (await database.knex("rentals").first("updated_at")).updated_at;
    const rental = { ...owner, started_at: "2026-01-01", updated_at: "2026-01-01" };
    await database.knex("rentals").insert(rental);
    const before = await now();
    await database.knex("rentals").update({ ended_at: "2026-01-02 00:00:00.000" });
    expect(before <= (await updatedAt()) && (await updatedAt()) <= (await now())).toBe(true);
  });
});
