/** Which rollups are due for a check, also of more than are read at once. */
import { expect, it } from "vitest";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { FORMAT } from "../../../../src/rollup/sums.ts";
import { findDue } from "../../../../src/rollup/write/run/due.ts";
import { databaseOfFile } from "../../file-database.ts";

const { knex } = await databaseOfFile();

it("all that are due are found, the longest due first", async () => {
  const row = { format: FORMAT, building: 0, slot: 0, version: 1, leaf: "P1D", rows_left: 0 };
  const [count, start] = [5_002, Date.UTC(2026, 0)];
  const rows = Array.from({ length: count }, (_, nth) => ({
    ...row,
    provider_id: nth + 1,
    watermark: "2026-01-01",
    next_from: "2026-01-01",
    check_at: new Date(start - 1_000 * Math.floor(nth / 2)).toISOString().slice(0, -1),
  }));
  await knex.batchInsert(TABLES.rollups, rows, 1_000);
  const due = await findDue(knex, 86_400_000);
  const pairs = Array.from({ length: count / 2 }, (_, nth) => count - 1 - 2 * nth);
  expect(due.map(({ provider }) => Number(provider))).toEqual(
    pairs.flatMap((first) => [first, first + 1]),
  );
});
