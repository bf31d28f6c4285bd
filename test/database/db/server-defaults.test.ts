/** Defaults of a server for tables and writes: what is refused is named, and what is stated or harmless works. */
import { afterAll, expect, it } from "vitest";
import { startPrivateDatabase } from "../../../dev/private-database/private-database.ts";
import { checkServer } from "../../../src/db/contract/server.ts";
import { migrateToLatest } from "../../../src/db/migrate.ts";
import { runCommand } from "../../support/commands/run-command.ts";
import { connectTo, testPool } from "../../support/database.ts";
import { rollUp } from "../../support/rollup/roll-up.ts";

const server = await startPrivateDatabase({
  bufferPool: "64M",
  serverOptions: [
    "--log-bin=binlog",
    "--server-id=1",
    "--binlog-format=ROW",
    "--innodb-default-row-format=REDUNDANT",
    "--default-storage-engine=MyISAM",
    "--character-set-server=latin1",
    "--collation-server=latin1_swedish_ci",
    "--explicit-defaults-for-timestamp=OFF",
    "--auto-increment-increment=7",
    "--auto-increment-offset=3",
    "--loose-sql-require-primary-key=ON",
    "--loose-innodb-force-primary-key=ON",
    "--binlog-row-image=MINIMAL",
  ],
});
const admin = await connectTo(server.url);
const pool = testPool(server.url);
afterAll(async () => {
  await pool.destroy();
  await admin.end();
  await server.stop();
});

const REASON =
  "the server's binlog_format is STATEMENT: it must be ROW or MIXED: `npm run rollup` writes as READ COMMITTED, which InnoDB does not log as statements";

it("the schema is made, and a rollup is written, with defaults that are odd and harmless", async () => {
  await migrateToLatest(pool);
  const [tables] = await admin.query<never[]>(
    `SELECT DISTINCT ENGINE AS engine, TABLE_COLLATION AS collation FROM information_schema.TABLES
     WHERE TABLE_SCHEMA = 'revenue'`,
  );
  expect(tables).toEqual([{ engine: "InnoDB", collation: "utf8mb4_bin" }]);
  await pool("providers").insert({ id: 1, name: "first" });
  await pool("charges").insert({
    provider_id: 1,
    server_id: 1,
    charged_at: "2026-01-10",
    gross: 1,
  });
  expect(await checkServer(pool)).toEqual([]);
  expect(await rollUp(pool, { margin: 0 })).toMatchObject({ charges: 1 });
});

it("binlog_format=STATEMENT, with which no rollup can be written, is named by --check and by a run", async () => {
  await admin.query("SET GLOBAL binlog_format = 'STATEMENT'");
  const other = testPool(server.url);
  await pool("charges").insert({
    provider_id: 1,
    server_id: 1,
    charged_at: "2026-01-11",
    gross: 1,
  });
  await expect(rollUp(other, { margin: 0 })).rejects.toThrow();
  expect(await checkServer(other)).toEqual([{ fails: true, text: REASON }]);
  await other.destroy();
  const { code, stderr } = await runCommand("rollup", [], server.url);
  expect({ code, stderr }).toEqual({ code: 1, stderr: `error: ${REASON}\n` });
});
