/**
 * What is wrong with a ledger that somebody else has made is named by the check, in one line that tells the column and
 * what is right: every mistake here is planted in a database of its own that is otherwise as it must be.
 */
import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import { checkLedgerOf } from "../../../src/cli/migrate-check.ts";
import { LEDGER } from "../../../src/db/contract/ledger.ts";
import { connectTo, createDatabase, testPool } from "../../support/database.ts";

const server = await connectTo(inject("databaseServer"), { multipleStatements: true });
afterAll(() => server.end());

/** A database, and an account that may SELECT from all of its tables. */
async function planted(sql: string) {
  const database = await createDatabase();
  const user = `check_${randomBytes(6).toString("hex")}`;
  onTestFinished(async () => {
    await server.query(`DROP USER ${user}`);
    await database.drop();
  });
  const account = `CREATE USER ${user} IDENTIFIED BY '${user}'`;
  const grant = `GRANT SELECT ON ${database.name}.* TO ${user}`;
  const statements = [`USE ${database.name}`, sql, account, grant];
  await server.query(statements.filter((text) => text !== "").join(";"));
  const url = Object.assign(new URL(database.url), { username: user, password: user });
  return { database, user, url: url.href };
}

async function findingsOf(url: string, isCounted = true) {
  const pool = testPool(url, { readOnly: true, maxStatement: TIME_LIMIT });
  try {
    return await checkLedgerOf(pool, isCounted);
  } finally {
    await pool.destroy();
  }
}

const errorsOf = async (url: string) => (await findingsOf(url)).errors;

/** SQL: makes a table of the schema a view of itself, with other expressions for some columns. */
function asView(table: string, changed: Readonly<Record<string, string>>, more = ""): string {
  const columns = Object.keys(LEDGER[table]?.columns ?? {});
  const kept = columns.filter((column) => changed[column] !== "");
  const list = kept.map((column) => `${changed[column] ?? column} AS ${column}`).join(", ");
  return `RENAME TABLE ${table} TO their_${table}; CREATE VIEW ${table} AS SELECT ${list} FROM their_${table} ${more}`;
}

it("the schema that the migrations make is right; a right that the account lacks is named", async () => {
  // Also with keys of the platform, one of them of an expression, where the engine has such.
  const { database, url, user } = await planted(
    "ALTER TABLE servers ADD KEY theirs (type) /*!80013 , ADD KEY dearer ((price_per_hour + 1)) */",
  );
  expect(await findingsOf(url)).toEqual({ errors: [], warnings: [] });
  await server.query(`REVOKE SELECT ON ${database.name}.* FROM ${user}`);
  const own = ["rollup_sums", "rollup_increments", "heartbeat", "page_token_keys"];
  for (const table of ["knex_migrations", ...Object.keys(LEDGER), ...own]) {
    const right = table === "wallets" ? "SELECT (provider_id)" : "SELECT";
    if (table === "providers") continue;
    await server.query(`GRANT ${right} ON ${database.name}.${table} TO ${user}`);
  }
  expect(await errorsOf(url)).toEqual([
    "providers is missing or a broken view, or this account may not read it",
    "wallets.available_balance is missing, or this account may not read it: it must be decimal(14,2)",
  ]);
  for (const table of ["providers", "wallets"]) {
    await server.query(`GRANT SELECT ON ${database.name}.${table} TO ${user}`);
  }
  expect(await errorsOf(url)).toEqual([
    expect.stringMatching(/^the statement \w+: SELECT command denied .* for table .*rollups/),
  ]);
});

const MONEY =
  "it must be decimal(14,2) or any decimal with two digits after the point, and 18 in all at most";
const BIN = "it must be ascii_bin, or another one that ends in _bin";
/** Mistakes in tables, and the line that names each, in the order of the contract. */
const IN_TABLES: readonly (readonly [sql: string, line: string])[] = [
  [
    "ALTER TABLE api_keys MODIFY key_hash char(64) NOT NULL",
    "api_keys.key_hash is char(64): it must be binary(32)",
  ],
  [
    "ALTER TABLE api_keys DROP KEY api_keys_by_hash",
    "api_keys has no key that begins with (key_hash): each call would read all of it",
  ],
  [
    "ALTER TABLE wallets MODIFY available_balance decimal(14,2) NULL",
    "wallets.available_balance may be NULL: it must be NOT NULL",
  ],
  [
    "ALTER TABLE servers MODIFY uuid char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL",
    `servers.uuid has the collation utf8mb4_general_ci: ${BIN}`,
  ],
  [
    "ALTER TABLE instances MODIFY public_id binary(16) NOT NULL",
    "instances.public_id is binary(16): it must be varchar(64) or any text whose collation ends in _bin",
  ],
  [
    "ALTER TABLE rentals DROP KEY rentals_by_end",
    "rentals has no key that begins with (provider_id, ended_at): each call would read all of it",
  ],
  [
    "ALTER TABLE charges MODIFY gross decimal(16,4) NOT NULL",
    `charges.gross is decimal(16,4): ${MONEY}`,
  ],
  [
    "ALTER TABLE charges DROP KEY charges_by_recording, DROP COLUMN recorded_at",
    "charges.recorded_at is missing, or this account may not read it: it must be datetime(3)",
  ],
  ["DROP TABLE payouts", "payouts is missing or a broken view, or this account may not read it"],
];

describe("each mistake is named, once, and nothing else,", () => {
  it("in tables", async () => {
    const mistakes = IN_TABLES.map(([sql]) => sql);
    const { url } = await planted(mistakes.join(";"));
    expect(await errorsOf(url)).toEqual(IN_TABLES.map(([, line]) => line));
  });

  it("in views, also in one whose table is gone", async () => {
    const servers = {
      id: "uuid",
      uuid: "CONVERT(uuid USING utf8mb4) COLLATE utf8mb4_general_ci",
    };
    const charges = {
      charged_at: "CAST(charged_at AS DATETIME)",
      gross: "gross / 1",
      recorded_at: "",
    };
    const views = [
      asView("servers", servers),
      asView("charges", charges),
      asView("wallets", {}),
      // What the server says may be NULL is right in a view: the rows are counted.
      asView("payouts", { provider_id: "NULLIF(provider_id, 0)", amount: "NULLIF(amount, 0)" }),
    ];
    const { url } = await planted([...views, "DROP TABLE their_wallets"].join(";"));
    expect(await errorsOf(url)).toEqual([
      expect.stringMatching(/wallets/),
      "servers.id is char(36): it must be bigint unsigned or any integer type without ZEROFILL, from 1",
      `servers.uuid has the collation utf8mb4_general_ci: ${BIN} (… COLLATE utf8mb4_bin)`,
      `charges.charged_at is datetime: it must be datetime(3) (CAST(… AS DATETIME(3)))`,
      `charges.gross is decimal(18,6): ${MONEY} (CAST(… AS DECIMAL(14,2)), of whole cents CAST(… * 0.01 AS DECIMAL(14,2)))`,
      "charges.recorded_at is missing, or this account may not read it: it must be datetime(3)",
    ]);
  });
});

it("a view that reads all rows of a table for one provider is named, as prepared statements read it", async () => {
  const union = (table: string) =>
    `${asView(table, {})} UNION ALL SELECT ${Object.keys(LEDGER[table]?.columns ?? {})} FROM their_${table} WHERE id = 0`;
  const { database } = await planted(
    [
      union("instances"),
      union("rentals"),
      asView("payouts", { provider_id: "CRC32(public_id)" }),
      `INSERT INTO their_payouts (provider_id, public_id, paid_at, amount, method, status)
         WITH RECURSIVE n AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM n WHERE n < 1000)
         SELECT n.n, '', '2026-01-01' + INTERVAL days.n DAY, 1, '', '' FROM n CROSS JOIN n AS days WHERE days.n < 5`,
      `INSERT INTO their_instances (provider_id, server_id, public_id, name)
         SELECT provider_id, 1, '', '' FROM their_payouts`,
      `INSERT INTO their_rentals (provider_id, server_id, started_at)
         SELECT provider_id, 1, paid_at FROM their_payouts`,
      // MariaDB pushes a parameter into a UNION only for a BIGINT.
      "ALTER TABLE their_instances MODIFY provider_id int unsigned NOT NULL",
      "ANALYZE TABLE their_payouts, their_instances, their_rentals",
      // Few rows may be read for each call.
      asView("servers", {}),
      "ALTER TABLE their_servers DROP PRIMARY KEY",
      asView("charges", {}),
    ].join(";"),
  );
  const [[{ version }]] = await database.knex.raw("SELECT VERSION() AS version");
  const scans = /MariaDB/.test(version) ? ["instances", "payouts"] : ["payouts"];
  expect((await findingsOf(database.url, false)).errors).toEqual(
    scans.map((table) =>
      expect.stringContaining(
        `${table}.provider_id: the view reads all of their_${table} for one provider: `,
      ),
    ),
  );
});
