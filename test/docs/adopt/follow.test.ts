/**
 * Tier 1 of docs/adopt.md follows its ledger: whatever happens to orders, in whatever order, with the copy anywhere
 * between, what `examples/adopt/shop/triggers.sql` and `copy.sql` have booked is what tier 0 says, to the cent.
 */
import type { Connection } from "mysql2/promise";
import { beforeAll, expect, it } from "vitest";
import { DAY } from "../../../dev/duration.ts";
import { createRandom } from "../../../dev/random.ts";
import { until } from "../../support/poll.ts";
import { SEED, SEEDED } from "../../support/seed.ts";
import { SOAK } from "../../support/soak.ts";
import { codeIn, section, tableIn } from "../markdown.ts";
import { drawStatement } from "./history.ts";
import { type Source, shopOfFile } from "./shop.ts";

const { connect, named, owner, sources, tables, viewed } = await shopOfFile();
const [orders, extras] = sources;
const random = createRandom(SEED);
beforeAll(async () => {
  for (const source of sources) await source.follow();
});

/** Errors of the shop's own: a key that is there already, and a savepoint that is not. */
const OWN = ["ER_DUP_ENTRY", "ER_SP_DOES_NOT_EXIST"];

/** Runs a statement of the shop, which only the shop's own table may refuse. */
async function run(shop: Connection, sql: string): Promise<void> {
  await shop.query(sql).catch((error) => {
    if (!OWN.includes(error.code)) throw new Error(`${error.message}: ${sql}`, { cause: error });
  });
}

/** Compares what is booked of a source with what it owes, and of the shop's orders also with tier 0. */
async function compare(source: Source): Promise<void> {
  const owed = await source.owed();
  expect(await source.booked()).toEqual(owed);
  if (source === orders) expect(await viewed()).toEqual(owed);
}

it.each([
  ["orders", orders],
  ["a second table of the same ids, paid at a timestamp", extras],
])(`%s: a random history adds up, per provider and server ${SEEDED}`, async (_, source) => {
  const shop = await connect();
  // What was there before the triggers.
  await source.leave();
  for (let nth = 0; nth < 40; nth++) await run(shop, drawStatement(random, source.table));
  await shop.query("COMMIT");
  await source.follow();
  await source.copy();
  await compare(source);
  for (let round = 0; round < 12 * SOAK; round++) {
    for (let nth = 0; nth < 25; nth++) {
      await run(shop, drawStatement(random, source.table));
      if (random.happens(0.1)) await source.copy();
    }
    await shop.query("COMMIT");
    await compare(source);
    expect(await source.copy()).toBe(0);
  }
});

/** The charges of an order of a source, in the order in which they were booked: `day cents`. */
async function chargesOf(id: number, source = 0): Promise<string[]> {
  const today = new Date().toISOString().slice(0, 10);
  const [rows] = await owner.query<never[]>(
    `SELECT CONCAT(charged_at, ' ', gross) AS text FROM ${tables}.charges WHERE rental_id = ? ORDER BY id`,
    [id * 10 + source],
  );
  return (rows as { text: string }[]).map(({ text }) =>
    text.replace(new RegExp(`^(${today}|${yesterdayOf(today)})\\S* \\S+`), "today"),
  );
}

/** A test may begin before midnight. */
const yesterdayOf = (day: string) => new Date(Date.parse(day) - DAY).toISOString().slice(0, 10);

const ORDER = "(id, merchant_id, machine_id, status, total_cents, booked_from, paid_at)";

it("a payment is of its instant, a correction of today, and what goes to another machine is two charges", async () => {
  const shop = await connect();
  await shop.query("SET time_zone = '+09:00'");
  const change = (set: string) => shop.query(`UPDATE ${orders.table} SET ${set} WHERE id = 100`);
  await shop.query(
    `INSERT INTO ${orders.table} ${ORDER} VALUES (100, 1, 1, 'open', 5000, '2026-01-01', NULL)`,
  );
  await change("status = 'paid'");
  await change("paid_at = '2026-01-03 10:00:00.25'");
  await change("refunded_cents = 1250");
  await change("status = 'disputed'");
  await change("status = 'paid'");
  await change("machine_id = 2");
  await change("booked_until = '2026-01-02'");
  expect(await chargesOf(100)).toEqual([
    "2026-01-03 10:00:00.250 50.00",
    "today -12.50",
    "today -37.50",
    "today 37.50",
    "today -37.50",
    "today 37.50",
  ]);
});

it("a payment at a timestamp is of its instant, whatever zone its session or that of the copy is in", async () => {
  const shop = await connect();
  const pay = async (id: number, zone: string, at: string) => {
    await shop.query(`SET time_zone = '${zone}'; INSERT INTO ${extras.table} ${ORDER}
      VALUES (${id}, 1, 1, 'paid', 100, '2026-01-01', '${at}')`);
  };
  await pay(200, "+09:00", "2026-01-02 05:00:00.123");
  await pay(201, "-05:00", "2026-01-01 15:00:00.123");
  expect(await chargesOf(200, 1)).toEqual(["2026-01-01 20:00:00.123 1.00"]);
  expect(await chargesOf(201, 1)).toEqual(["2026-01-01 20:00:00.123 1.00"]);
  await owner.query(`DELETE FROM ${tables}.charges WHERE rental_id IN (2001, 2011)`);
  await extras.copy();
  expect(await chargesOf(201, 1)).toEqual(["2026-01-01 20:00:00.123 1.00"]);
});

it("a time that is NULL, or zero, is no payment yet, and the shop's statement succeeds", async () => {
  const shop = await connect();
  await shop.query("SET sql_mode = ''");
  for (const [nth, at] of ["NULL", "0"].entries()) {
    for (const { table } of sources) {
      const id = 300 + nth;
      await shop.query(
        `INSERT INTO ${table} ${ORDER} VALUES (${id}, 1, 1, 'paid', 100, '2026-01-01', ${at})`,
      );
      await shop.query(`UPDATE ${table} SET total_cents = 200 WHERE id = ${id}`);
      await shop.query(`DELETE FROM ${table} WHERE id = ${id}`);
    }
  }
  for (const id of [300, 301])
    expect([await chargesOf(id), await chargesOf(id, 1)]).toEqual([[], []]);
});

it("the copy mends what no trigger saw, and triggers.sql may run again", async () => {
  const shop = await connect();
  for (let nth = 0; nth < 30; nth++) await run(shop, drawStatement(random, orders.table));
  await shop.query("COMMIT");
  await orders.leave();
  for (let nth = 0; nth < 60; nth++) await run(shop, drawStatement(random, orders.table));
  await shop.query("COMMIT");
  await shop.query(
    `INSERT INTO ${orders.table} ${ORDER} VALUES (5000, 1, 1, 'paid', 5000, '2026-01-01', '2026-01-01')`,
  );
  await orders.copy();
  await compare(orders);
  // What the other table has booked is not the orders'.
  await compare(extras);
  await orders.follow();
  await orders.follow();
  await shop.query(`TRUNCATE ${orders.table}`);
  expect(Object.keys(await orders.booked())).not.toEqual([]);
  await orders.copy();
  await compare(orders);
});

it("payments of several orders wait for no number of a charge", async () => {
  const [one, other] = [await connect(), await connect()];
  await one.query(`DELETE FROM ${orders.table}`);
  await one.query(`INSERT INTO ${orders.table} ${ORDER} VALUES (1, 1, 1, 'open', 100, '2026-01-01', '2026-01-01'),
    (2, 1, 1, 'open', 100, '2026-01-01', '2026-01-01'), (3, 1, 1, 'open', 100, '2026-01-01', '2026-01-01')`);
  const pay = (ids: string) => `UPDATE ${orders.table} SET status = 'paid' WHERE id IN (${ids})`;
  await other.query("START TRANSACTION");
  await other.query(pay("2"));
  const both = one.query(pay("1, 2"));
  // Its trigger has run for the first order once that is locked, and it waits for the second.
  await until(async () => {
    const [rows] = await owner.query<never[]>(
      `SELECT id FROM ${orders.table} WHERE id = 1 FOR UPDATE SKIP LOCKED`,
    );
    return rows.length === 0;
  });
  await other.query(pay("3"));
  await other.query("COMMIT");
  await both;
  await compare(orders);
});

it("payments beside the triggers' making and two copies: none fails, and each counts once", async () => {
  await orders.leave();
  const count = Math.round(3_000 * SOAK);
  await owner.query(`INSERT INTO ${orders.table} (merchant_id, machine_id, status, total_cents, booked_from, paid_at)
    WITH RECURSIVE n AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM n WHERE n < 1000)
    SELECT 1 + a.n % 3, 1 + a.n % 4, 'paid', a.n, '2026-01-01', '2026-01-02'
    FROM n AS a JOIN n AS b ON b.n <= ${Math.ceil(count / 1_000)}`);
  let isOver = false;
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    const shop = await connect();
    const own = createRandom(SEED + writer);
    let payments = 0;
    for (; !isOver || payments < 50; payments++) {
      const id = own.integer(1, count);
      await shop.query(
        own.pick([
          `INSERT INTO ${orders.table} (merchant_id, machine_id, status, total_cents, booked_from, paid_at)
           VALUES (1, 1, 'paid', ${id}, '2026-01-01', '2026-01-02')`,
          `UPDATE ${orders.table} SET total_cents = total_cents + 7 WHERE id = ${id}`,
          `UPDATE ${orders.table} SET status = IF(status = 'paid', 'disputed', 'paid') WHERE id = ${id}`,
          `UPDATE ${orders.table} SET machine_id = ${own.integer(1, 5)} WHERE id IN (${id}, ${id + 1})`,
          `DELETE FROM ${orders.table} WHERE id = ${id}`,
        ]),
      );
    }
  });
  const installed = async () => {
    await orders.follow();
    await Promise.all([orders.copy(), orders.copy()]);
    await orders.follow();
    await orders.copy();
    isOver = true;
  };
  await Promise.all([installed(), ...writers]);
  await compare(orders);
  expect(await orders.copy()).toBe(0);
});

it("what no trigger sees is found by the queries of the page", async () => {
  const text = section("docs/adopt.md", "Tier 1: tables for charges and rentals");
  const rows = tableIn(text, "what", "what becomes of it", "how to find it");
  const queries = rows.flatMap(([, , how = ""]) => codeIn(how).slice(0, 1).map(named));
  /** The rows that each finds, or what it counts. */
  const found = () =>
    Promise.all(
      queries.map(async (query) => {
        const [answer] = await owner.query<never[]>(query);
        return query.startsWith("SELECT COUNT") ? Object.values(answer[0] ?? {})[0] : answer.length;
      }),
    );
  await orders.follow();
  await owner.query(`DELETE FROM ${orders.table}`);
  await owner.query(`DELETE FROM ${tables}.charges`);
  // Three triggers, and nothing else.
  expect(await found()).toEqual([0, 0, 3, 0, 0, 0]);
  const change = (what: string) => owner.query(named(`ALTER TABLE shop.orders ${what}`));
  await change(
    "ADD CONSTRAINT of_a FOREIGN KEY (merchant_id) REFERENCES shop.merchants (id) ON DELETE CASCADE",
  );
  expect(await found()).toEqual([1, 0, 3, 0, 0, 0]);
  await owner.query(
    `INSERT INTO ${orders.table} ${ORDER} VALUES (1, 1, 1, 'paid', 100, '2026-01-01', '2026-01-01')`,
  );
  await owner.query(named("DELETE FROM shop.merchants WHERE id = 1"));
  expect(await found()).toEqual([1, 0, 3, 0, 0, 1]);
  await orders.copy();
  await compare(orders);
  await change("DROP FOREIGN KEY of_a");
  await owner.query(`DELETE FROM ${tables}.charges`);
  await change("PARTITION BY HASH (id) PARTITIONS 2");
  expect(await found()).toEqual([0, 2, 3, 0, 0, 0]);
  await change("REMOVE PARTITIONING");
  await change("ENGINE = MyISAM");
  expect(await found()).toEqual([0, 0, 3, 0, 1, 0]);
  await change("ENGINE = InnoDB");
  await owner.query(named("DROP TRIGGER shop.charge_gone"));
  expect(await found()).toEqual([0, 0, 2, 0, 0, 0]);
});
