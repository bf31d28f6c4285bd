/** Statements of several queries: docs/sql has what they compile to. */
import { expect, it } from "vitest";
import { createRead } from "../../../src/db/query.ts";
import { compileStatement } from "../../../src/db/statement.ts";
import { databaseOfFile } from "../file-database.ts";

const database = await databaseOfFile();

const figures = compileStatement(
  {
    wallet: {
      select: { balance: "MAX(available_balance)" },
      from: "wallets WHERE provider_id = :provider",
    },
    latest: {
      select: { id: "public_id", amount: "amount", paidAt: "paid_at" },
      from: "payouts WHERE provider_id = :provider AND paid_at <= :now ORDER BY paid_at DESC LIMIT 2",
    },
    servers: {
      select: { name: "name", deletedAt: "deleted_at" },
      from: "servers WHERE provider_id = :provider ORDER BY id",
    },
  },
  ["provider", "now"],
  "figures",
);

it("compiling rejects a parameter that is not declared", () => {
  const servers = { select: { id: "id" }, from: "servers WHERE provider_id = :povider" };
  expect(() => compileStatement({ servers }, ["provider"], "servers")).toThrow(
    new Error("parameter :povider is not declared"),
  );
});

it("a query that is undefined is left out of the statement, and has no rows", async () => {
  const one = { select: { wallets: "COUNT(*)" }, from: "wallets WHERE provider_id = :provider" };
  const statement = compileStatement({ one, none: undefined, two: one }, ["provider"], "wallets");
  expect(statement.sql.match(/^UNION ALL \(SELECT \d/gm)).toEqual(["UNION ALL (SELECT 1"]);
  const { signal } = new AbortController();
  const read = createRead(database.knex);
  const { rows } = await read(({ query }) => statement.run(query, { provider: "7" }), { signal });
  expect(rows).toMatchObject({ one: [{ wallets: "0" }], none: [], two: [{ wallets: "0" }] });
});

it("the rows of a run have the exact text of each value in the query's order, and '' for NULL", async () => {
  const insert = (table: string, rows: object[]) =>
    database.knex(table).insert(rows.map((row) => ({ provider_id: 1, ...row })));
  await insert("wallets", [{ available_balance: "-999999999999.99" }]);
  const server = { status: "Active", price_per_hour: "1.0000" };
  await insert("servers", [
    { ...server, id: 1, uuid: "a", name: "😀 :now ? 'x'", deleted_at: null },
    { ...server, id: 2, uuid: "b", name: "", deleted_at: "2026-02-28 23:59:59.999" },
  ]);
  const payout = { method: "Bank Transfer", status: "Completed" };
  await insert("payouts", [
    { ...payout, public_id: "p1", paid_at: "2026-01-01 00:00:00.000", amount: "0.10" },
    { ...payout, public_id: "p2", paid_at: "2026-01-02 00:00:00.001", amount: "100.00" },
    { ...payout, public_id: "p3", paid_at: "2026-01-03 00:00:00.000", amount: "0.00" },
    { ...payout, public_id: "p4", paid_at: "2027-01-01 00:00:00.000", amount: "1.00" },
  ]);
  const values = { provider: "1", now: "2026-12-31 00:00:00.000" };
  const { signal } = new AbortController();
  const read = createRead(database.knex);
  const { rows } = await read(({ query }) => figures.run(query, values), { signal });
  expect(rows).toMatchObject({
    wallet: [{ balance: "-999999999999.99" }],
    latest: [
      { id: "p3", amount: "0.00", paidAt: "2026-01-03 00:00:00.000" },
      { id: "p2", amount: "100.00", paidAt: "2026-01-02 00:00:00.001" },
    ],
    servers: [
      { name: "😀 :now ? 'x'", deletedAt: "" },
      { name: "", deletedAt: "2026-02-28 23:59:59.999" },
    ],
  });
});
