/**
 * A server whose defaults are not what they are elsewhere. Every session is set up all the same: answers
 * are fresh and complete, texts are what they were, and what is written lasts. What is refused is named.
 */
import knexModule, { type Knex } from "knex";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPrivateDatabase } from "../../../dev/private-database/private-database.ts";
import { issueKey, listKeys, revokeKey } from "../../../src/auth/key-registry.ts";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { migrateToLatest } from "../../../src/db/migrate.ts";
import { pendingMigrations } from "../../../src/db/pending-migrations.ts";
import { knexConfig } from "../../../src/db/pool.ts";
import { createRead } from "../../../src/db/query.ts";
import { checkSession } from "../../../src/db/session-variables.ts";
import { verify } from "../../../src/rollup/write/verify.ts";
import { connectTo, testPool } from "../../support/database.ts";
import { rollUp } from "../../support/rollup/roll-up.ts";

const server = await startPrivateDatabase({
  bufferPool: "64M",
  serverOptions: [
    "--log-bin=binlog",
    "--server-id=1",
    "--binlog-format=ROW",
    "--binlog-row-image=MINIMAL",
    "--innodb-default-row-format=REDUNDANT",
    "--default-storage-engine=MyISAM",
    "--explicit-defaults-for-timestamp=OFF",
    "--auto-increment-increment=7",
    "--auto-increment-offset=3",
    "--loose-sql-require-primary-key=ON",
    "--loose-innodb-force-primary-key=ON",
    // What clients ask for in their handshake does not count.
    "--character-set-server=latin1",
    "--collation-server=latin1_swedish_ci",
    "--loose-skip-character-set-client-handshake",
  ],
});
const admin = await connectTo(server.url, { multipleStatements: true });
const isMariaDB = server.server.engine === "MariaDB";
const tx = isMariaDB ? "tx" : "transaction";

/** The odd defaults, by variable. */
const ODD: Readonly<Record<string, string>> = {
  autocommit: "0",
  completion_type: "'CHAIN'",
  time_zone: "'+09:00'",
  sql_mode: "'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,PAD_CHAR_TO_FULL_LENGTH'",
  sql_select_limit: "1",
  [`${tx}_isolation`]: "'READ-UNCOMMITTED'",
  [`${tx}_read_only`]: "1",
  sql_safe_updates: "1",
  sql_big_selects: "0",
  max_join_size: "1",
  init_connect: "'SET NAMES latin1'",
};
/** Those whose statement only protects. */
const PROTECTIONS = [`${tx}_read_only`, "sql_safe_updates", "sql_big_selects"];

/** An ordinary account: a server executes `init_connect` for no other. */
const url = Object.assign(new URL(server.url), { username: "plain", password: "plain" });
const pool = testPool(url.href);
beforeAll(async () => {
  const assignments = Object.entries(ODD).map(([name, value]) => `GLOBAL ${name} = ${value}`);
  await admin.query(
    `CREATE USER plain IDENTIFIED BY 'plain'; GRANT ALL ON revenue.* TO plain; SET ${assignments.join(", ")}`,
  );
});
afterAll(async () => {
  await pool.destroy();
  await admin.end();
  await server.stop();
});

/** What another session sees, which states nothing. */
async function committed(sql: string): Promise<unknown[]> {
  const [rows] = await admin.query<never[]>(sql);
  return rows;
}
const NAME = "Größe 北京 🚀 ' \\ \"";

it("what is written lasts, and is read as it was written", async () => {
  await migrateToLatest(pool);
  expect(await pendingMigrations(pool)).toEqual([]);
  const tables = `SELECT DISTINCT ENGINE AS engine, TABLE_COLLATION AS collation
    FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'revenue'`;
  expect(await committed(tables)).toEqual([{ engine: "InnoDB", collation: "utf8mb4_bin" }]);
  await pool("providers").insert([
    { id: 1, name: NAME },
    { id: 2, name: "second" },
  ]);
  const { key, id } = await issueKey(pool, "1", NAME, null);
  expect(await revokeKey(pool, { key })).toMatchObject({ changed: true });
  expect((await listKeys(pool)).map(({ name }) => name)).toEqual([NAME]);
  const stored = "SELECT HEX(name) AS name FROM revenue.providers WHERE id = 1";
  expect(await committed(stored)).toEqual([
    { name: Buffer.from(NAME).toString("hex").toUpperCase() },
  ]);
  const revoked = `SELECT COUNT(*) AS count FROM revenue.api_keys
    WHERE id = ${id} AND ABS(TIMESTAMPDIFF(SECOND, revoked_at, UTC_TIMESTAMP())) < 60`;
  expect(await committed(revoked)).toEqual([{ count: 1 }]);
});

it("each read of a connection is a snapshot of its own, and has all rows", async () => {
  const single = testPool(url.href, { readOnly: true, maxConnections: 1 });
  const read = createRead(single);
  const { signal } = new AbortController();
  const names = async () =>
    (
      await read(({ query }) => query("SELECT name FROM providers ORDER BY id", [], "test"), {
        signal,
      })
    ).flat();
  expect(await names()).toEqual([NAME, "second"]);
  await pool("providers").where({ id: 2 }).update({ name: "changed" });
  expect(await names()).toEqual([NAME, "changed"]);
  await single.destroy();
});

it("a run commits a rollup that agrees with the ledger", async () => {
  const charge = { provider_id: 1, server_id: 1, charged_at: "2026-01-10", gross: "1.00" };
  await pool("charges").insert([charge, { ...charge, gross: "-0.30" }]);
  await pool("charges").update({ recorded_at: "2026-01-11" });
  expect(await rollUp(pool, { margin: 1_000 })).toMatchObject({ charges: 2 });
  expect(await Array.fromAsync(verify(pool, "1"))).toEqual([]);
  const sums = "SELECT MAX(gross) AS gross FROM revenue.rollup_sums";
  expect(await committed(sums)).toEqual([{ gross: "0.70" }]);
});

describe("the session that is read back", () => {
  const check = async (knex: Knex, readOnly = false, connections = 1) => {
    const warnings: string[] = [];
    const options = { readOnly, maxStatement: 10_500 };
    const problem = await checkSession(knex, options, connections, (message) => {
      warnings.push(message);
    }).then(
      () => "",
      (error) => error.message,
    );
    return { problem, warnings };
  };

  it("is as it was set up, and refused where nothing was, by the names of what figures depend on", async () => {
    const limited = testPool(url.href, { readOnly: true, maxStatement: 10_500 });
    expect(await check(limited, true)).toEqual({ problem: "", warnings: [] });
    await limited.destroy();
    const config = knexConfig(parseDatabaseUrl(url.href));
    const swallowed = knexModule({ ...config, pool: { min: 0, max: 1 } });
    const { problem, warnings } = await check(swallowed, false);
    await swallowed.destroy();
    const named = Object.keys(ODD).filter(
      (name) => !["init_connect", "max_join_size", ...PROTECTIONS].includes(name),
    );
    for (const name of [...named, "character_set_results"]) expect(problem).toContain(`${name} is`);
    for (const name of PROTECTIONS) {
      expect(problem).not.toContain(name);
      expect(warnings.join("\n")).toContain(`${name} is`);
    }
    expect(problem).not.toMatch(/max_(execution|statement)_time/);
  });

  it("is refused where its clock stands still", async () => {
    const stopped = testPool(url.href, { maxConnections: 1 });
    await stopped.raw("SET timestamp = 1000000000");
    expect((await check(stopped)).problem).toContain("timestamp is set");
    await stopped.destroy();
  });

  it("has a warning if the account may have fewer connections than are opened", async () => {
    await admin.query("ALTER USER plain WITH MAX_USER_CONNECTIONS 9");
    const limited = testPool(url.href, { maxStatement: 10_500 });
    expect((await check(limited, false, 9)).warnings).toEqual([]);
    expect((await check(limited, false, 10)).warnings).toEqual([
      "the database allows 9 connections, and this program opens up to 10",
    ]);
    await limited.destroy();
  });
});

it("binlog_format=STATEMENT, with which no rollup can be written, is named by the server", async () => {
  await admin.query("SET GLOBAL binlog_format = 'STATEMENT'");
  const other = testPool(url.href);
  await pool("charges").update({ recorded_at: "2026-01-12" });
  const run = rollUp(other, { margin: 1_000, rebuild: true });
  await expect(run).rejects.toThrow(/BINLOG_FORMAT ?= ?STATEMENT/i);
  await other.destroy();
});
