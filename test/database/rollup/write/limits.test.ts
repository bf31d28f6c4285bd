/** How much a step, a refresh and a repair write at most: what is more is a build, in steps. */
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { toDatetime } from "../../../../src/db/datetime.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { buildStep } from "../../../../src/rollup/write/build.ts";
import { checkSlice } from "../../../../src/rollup/write/check.ts";
import { refresh } from "../../../../src/rollup/write/refresh.ts";
import { databaseOfFile, deleteRows, LEDGER } from "../../file-database.ts";
import { begin, charge, rollupOf } from "./built.ts";
import { expectStored } from "./oracle.ts";

const TOO_LARGE = { rebuild: "too large" };
const [WATERMARK, NEXT, LATER] = ["2026-01-20 12:00", "2026-01-20 12:05", "2026-01-20 12:10"];
const { knex } = await databaseOfFile();

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
const hour = (n: number) => toDatetime(Date.UTC(2025, 8, 1) + n * 3_600_000);
const insert = (rows: readonly object[]) => knex.batchInsert("charges", rows, 500);

/** Builds a rollup with leaves of an hour. Resolves to what was counted after each step. */
async function buildCounting(count: () => PromiseLike<number>): Promise<number[]> {
  await begin(knex, "1", WATERMARK, "PT1H");
  const counts = [0];
  while (!(await buildStep(knex, "1", WATERMARK))?.done) counts.push(await count());
  return counts;
}
const largest = (counts: readonly number[]) =>
  Math.max(...counts.map((count, nth) => count - (counts[nth - 1] ?? 0)));

describe("of many owners, each of which has a row at each boundary", () => {
  const [OWNERS, LEAVES] = [1_000, 120];
  const ofEach = (at: string, recorded: string) =>
    insert(numbers(OWNERS).map((n) => charge(at, recorded, "1.00", n + 1)));
  let stored: number[] = [];
  beforeAll(async () => {
    await deleteRows(knex, ["instances", ...LEDGER]);
    await knex("instances").insert(
      numbers(OWNERS).map((n) => {
        return { provider_id: 1, server_id: 1, public_id: `${n}`, name: "instance" };
      }),
    );
    await ofEach(hour(0), hour(0));
    await insert(numbers(LEAVES).map((n) => charge(hour(n + 1), hour(0))));
    stored = await buildCounting(async () =>
      Number((await knex(TABLES.sums).count("* AS rows").first())?.rows),
    );
  });
  afterEach(() =>
    knex("charges")
      .where("charged_at", ">=", hour(2 * LEAVES))
      .del(),
  );

  it("a step of a build stores those of so many leaves only", () => {
    // The owners, and the provider as a whole.
    expect(stored.at(-1)).toBe((LEAVES + 1) * (OWNERS + 1));
    expect(largest(stored)).toBeLessThan(101_000);
  });

  it("a refresh of very many new leaves is too large", async () => {
    await insert(numbers(501).map((n) => charge(hour(2 * LEAVES + n), NEXT)));
    expect(await refresh(knex, "1", NEXT)).toMatchObject(TOO_LARGE);
  });

  it("a refresh of one leaf is not", async () => {
    await ofEach(hour(2 * LEAVES), NEXT);
    expect(await refresh(knex, "1", NEXT)).toEqual({ charges: OWNERS });
  });
});

it("a step and a refresh have at most 1,000 leaves, however few rows these have, in statements that stay small; a repair of more rows is a build", async () => {
  await deleteRows(knex, ["instances", ...LEDGER]);
  let longest = 0;
  knex.on("query", ({ sql }: { readonly sql: string }) => {
    longest = Math.max(longest, sql.length);
  });
  // Every other hour has one, so that none lies beside another one.
  const insertHours = (count: number, recorded: string) =>
    insert(numbers(count).map((n) => charge(hour(2 * n), recorded, "-1.00")));
  await insertHours(1_001, hour(0));
  const boundaries = async () =>
    (await knex(TABLES.sums).where({ total: 0 }).distinct("at")).length;
  expect(largest(await buildCounting(boundaries))).toBeLessThanOrEqual(1_000);
  // Regression: a row of a late boundary was counted once for each difference before it.
  await insertHours(1_000, NEXT);
  expect(await refresh(knex, "1", NEXT)).toEqual({ charges: 1_000 });
  expect(longest).toBeLessThan(256 * 1_024);
  await expectStored(knex);
  await insertHours(1_001, LATER);
  expect(await refresh(knex, "1", LATER)).toMatchObject(TOO_LARGE);
  // A repair of owners that would have a row at each boundary: 500,500 rows.
  await insert(numbers(500).map((n) => charge(hour(0), hour(0), "1.00", n + 10)));
  const { version: outdated } = (await rollupOf(knex, "1")) ?? {};
  expect(await checkSlice(knex, "1", { period: 1 })).toEqual({ more: false, outdated });
});
