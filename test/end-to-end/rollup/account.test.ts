/** The privileges of the documented database account for `npm run rollup`. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createPool } from "../../../src/db/pool.ts";
import { createRollupPool } from "../../../src/rollup/write/pass/pool.ts";
import { rollUp } from "../../../src/rollup/write/run.ts";
import { verify } from "../../../src/rollup/write/verify.ts";
import { blockWith } from "../../docs/markdown.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { addBulk } from "../../support/rollup/bulk.ts";

const account = `rollup_${randomBytes(6).toString("hex")}`;
const password = randomBytes(18).toString("base64url");

let database: TestDatabase;
let url: string;
beforeAll(async () => {
  database = await createDatabase();
  const statements = blockWith("sql", "'revenue_rollup'@")
    .replaceAll("revenue_rollup'", `${account}'`)
    .replaceAll(" ON revenue.", ` ON ${database.name}.`)
    .replaceAll("'…'", `'${password}'`)
    .split(";")
    .filter((statement) => statement.trim() !== "");
  for (const statement of statements) await database.knex.raw(statement);
  await addBulk(database.knex, [
    { provider: 1, servers: 3, instances: 3, charges: 1_000, rentals: 50 },
  ]);
  url = Object.assign(new URL(database.url), { username: account, password }).href;
});
afterAll(async () => {
  await database.knex.raw(`DROP USER ${account}`);
  await database.drop();
});

it("suffice to build, refresh, rebuild and verify", async () => {
  const pool = createRollupPool(parseDatabaseUrl(url), 3, () => {});
  try {
    const options = { margin: 0, seesTransactions: true };
    expect(await rollUp(pool, options)).toMatchObject({ charges: 1_000 });
    await database.knex("charges").insert({
      provider_id: 1,
      server_id: 1_001,
      charged_at: "2025-01-05 00:00:00.000",
      gross: "5.00",
    });
    expect(await rollUp(pool, { margin: 0 })).toMatchObject({ charges: 1 });
    expect(await rollUp(pool, { margin: 0, rebuild: true })).toMatchObject({ charges: 1_001 });
    expect(await Array.fromAsync(verify(pool, "1"))).toEqual([]);
  } finally {
    await pool.destroy();
  }
});

it("do not allow to change the ledger", async () => {
  const session = createPool(parseDatabaseUrl(url), { maxConnections: 1 });
  for (const statement of [
    "INSERT INTO charges (provider_id, server_id, charged_at, gross) VALUES (1, 1, '2026-01-01', 1)",
    "UPDATE charges SET gross = 0",
    "UPDATE wallets SET available_balance = 0",
  ]) {
    const code = "ER_TABLEACCESS_DENIED_ERROR";
    await expect(session.raw(statement), statement).rejects.toMatchObject({ code });
  }
  await session.destroy();
});
