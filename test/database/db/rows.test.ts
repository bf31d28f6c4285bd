/**
 * `npm run migrate -- --check` counts what is wrong with the rows of a ledger that somebody else has made: each mistake
 * here is planted behind views, and told with its number and the key of one.
 */
import { afterAll, expect, inject, it, onTestFinished } from "vitest";
import { checkLedgerOf } from "../../../src/cli/migrate-check.ts";
import { LEDGER } from "../../../src/db/contract/ledger.ts";
import { connectTo, createDatabase, testPool } from "../../support/database.ts";

const server = await connectTo(inject("databaseServer"), { multipleStatements: true });
afterAll(() => server.end());

/** A view of each table of the ledger, over tables without keys, in which a date may be zero and anything NULL. */
const VIEWS = Object.entries(LEDGER).map(([table, { columns }]) => {
  const types = Object.entries(columns).map(([column, { kind }]) => {
    const text = kind.isIdentifier ? " CHARACTER SET ascii COLLATE ascii_bin" : "";
    return `${column} ${kind.type}${text} NULL`;
  });
  const { lookup } = LEDGER[table] ?? { lookup: [] };
  return `DROP TABLE ${table};
    CREATE TABLE their_${table} (${types.join(", ")}, KEY (${lookup.join(", ")}));
    CREATE VIEW ${table} AS SELECT ${Object.keys(columns).join(", ")} FROM their_${table}`;
});

/** A small ledger in which nothing is wrong. */
const RIGHT = `INSERT INTO their_providers VALUES (1, 'one'), (2, 'two');
  INSERT INTO their_wallets VALUES (1, 5), (2, 0);
  INSERT INTO their_servers VALUES (1, 1, 'a', '', '', '', 1, NULL), (2, 1, 'b', '', '', '', 1, '2026-02-28');
  INSERT INTO their_instances VALUES (1, 1, 1, 'i', '', NULL);
  INSERT INTO their_rentals VALUES (1, 1, NULL, '2026-01-01', NULL, '2026-01-01');
  INSERT INTO their_charges VALUES (1, 1, 1, NULL, '2026-01-01', 1, '2026-01-01', NULL),
    (2, 1, 1, NULL, '2026-01-01', 1, '2026-01-01', NULL), (1, 1, 1, NULL, '2026-01-02', 1, '2026-01-01', NULL);
  INSERT INTO their_payouts VALUES (1, 1, 'p', '2026-01-01', 1, '', 'Pending')`;

async function planted(...statements: readonly string[]) {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  // As writers with a lax mode leave dates.
  const lax = "SET SESSION sql_mode = 'ALLOW_INVALID_DATES'";
  await server.query([`USE ${database.name}`, lax, ...statements].join(";"));
  return database;
}

const INSTANT =
  "a row must have an instant in UTC, or not be in the view (CONVERT_TZ with the name of a zone is NULL on a server without zone tables)";
const NONE = "NULL is the right one for none";
const VALUE =
  "an amount needs COALESCE around all of it; a row that belongs to nobody needs an owner, or is left out";
const ONE =
  "one row each: two tenants, currencies or sources need databases, or numbers, of their own";
const SERVER =
  "a server stays in the view when it is deleted, and what belongs to none needs one, too";

/** Mistakes in rows, and the line that tells each, in the order of the counts. */
const MISTAKES: readonly (readonly [sql: string, ...lines: string[]])[] = [
  [
    "UPDATE their_servers SET deleted_at = '0000-00-00' WHERE id = 1; UPDATE their_servers SET deleted_at = '9999-12-31' WHERE id = 2",
    `servers.deleted_at is no date from 1971 to 9998: 2, for example provider_id 1, id 1: ${NONE}`,
  ],
  [
    "INSERT INTO their_rentals VALUES (1, 1, 1, '2026-02-30', '2026-00-10', '2026-01-01')",
    "rentals.started_at is NULL or no date from 1971 to 9998: 1, for example provider_id 1, server_id 1, started_at 2026-02-30 00:00:00.000: " +
      INSTANT,
    `rentals.ended_at is no date from 1971 to 9998: 1, for example provider_id 1, server_id 1, started_at 2026-02-30 00:00:00.000: ${NONE}`,
  ],
  [
    `INSERT INTO their_charges VALUES (3, 1, 1, NULL, NULL, 1, '2026-01-01', NULL);
     INSERT INTO their_charges VALUES (4, 1, 1, NULL, FROM_UNIXTIME(0), 1, '2026-01-01', NULL),
       (8, 1, 1, NULL, NULL, 1, '2026-01-01', NULL)`,
    `charges.charged_at is NULL or no date from 1971 to 9998: 3, for example provider_id 1, id 3: ${INSTANT}`,
  ],
  [
    "UPDATE their_payouts SET paid_at = 0",
    `payouts.paid_at is NULL or no date from 1971 to 9998: 1, for example provider_id 1, id 1: ${INSTANT}`,
  ],
  [
    `INSERT INTO their_charges VALUES (7, 1, 1, NULL, '2026-01-01', NULL, '2026-01-01', NULL);
     INSERT INTO their_charges VALUES (NULL, 1, 1, NULL, '2026-01-01', 1, '2026-01-01', NULL)`,
    `charges without a value: 2, for example gross NULL, provider_id 1, id 7: ${VALUE}`,
  ],
  [
    "INSERT INTO their_payouts VALUES (9, 1, 'r', '2026-01-01', -1, '', 'Completed')",
    "payouts below zero: 1, for example provider_id 1, id 9: a payout that came back is Failed, and the row that takes it back is not in the view",
  ],
  [
    "INSERT INTO their_providers VALUES (2, 'of another tenant')",
    `providers has more than one row of the same (id): 1, for example id 2: ${ONE}`,
  ],
  [
    "INSERT INTO their_wallets VALUES (1, 7)",
    `wallets has more than one row of the same (provider_id): 1, for example provider_id 1: ${ONE}`,
  ],
  [
    "INSERT INTO their_servers VALUES (1, 1, 'c', '', '', '', 1, NULL)",
    `servers has more than one row of the same (provider_id, id): 1, for example provider_id 1, id 1: ${ONE}`,
  ],
  [
    "INSERT INTO their_instances VALUES (1, 1, 2, 'j', '', NULL)",
    `instances has more than one row of the same (provider_id, id): 1, for example provider_id 1, id 1: ${ONE}`,
  ],
  [
    "INSERT INTO their_charges VALUES (2, 1, 1, NULL, '2026-01-01', 9, '2026-01-01', NULL)",
    `charges has more than one row of the same (provider_id, charged_at, id): 1, for example provider_id 1, charged_at 2026-01-01 00:00:00.000, id 2: ${ONE}`,
  ],
  [
    "INSERT INTO their_payouts VALUES (8, 1, 'q', '2026-03-01', 1, '', ''), (8, 1, 'r', '2026-03-01', 1, '', '')",
    `payouts has more than one row of the same (provider_id, paid_at, id): 1, for example provider_id 1, paid_at 2026-03-01 00:00:00.000, id 8: ${ONE}`,
  ],
  [
    "INSERT INTO their_servers VALUES (3, 7, 'd', '', '', '', 1, NULL)",
    "servers of no provider: 1, for example provider_id 7, id 3: a provider stays in the view, and servers of other tenants are not in it",
  ],
  [
    // Of another provider's server, and of none.
    `INSERT INTO their_charges VALUES (5, 2, 1, NULL, '2026-01-01', 1, '2026-01-01', NULL);
     INSERT INTO their_charges VALUES (6, 2, 0, NULL, '2026-01-01', 1, '2026-01-01', NULL)`,
    `charges of no server of their provider: 2, for example provider_id 2, server_id 0: ${SERVER}`,
  ],
  [
    "INSERT INTO their_rentals VALUES (1, 9, NULL, '2026-01-01', NULL, '2026-01-01')",
    `rentals of no server of their provider: 1, for example provider_id 1, server_id 9: ${SERVER}`,
  ],
];

it("of a ledger in which nothing is wrong, nothing is told", async () => {
  const { knex } = await planted(...VIEWS, RIGHT);
  expect(await checkLedgerOf(knex)).toEqual({ errors: [], warnings: [] });
});

it("each mistake is told, with its number and an example", async () => {
  const { knex } = await planted(...VIEWS, RIGHT, ...MISTAKES.map(([sql]) => sql));
  const { errors } = await checkLedgerOf(knex);
  expect(errors).toEqual(MISTAKES.flatMap(([, ...lines]) => lines));
  expect(await checkLedgerOf(knex, false)).toEqual({
    errors: [],
    warnings: ["the rows are not counted (--skip-counts)"],
  });
});

it("local times of a zone that the server does not know are counted", async () => {
  const columns = Object.keys(LEDGER.charges?.columns ?? {}).map((column) =>
    column === "charged_at"
      ? "CAST(CONVERT_TZ(charged_at, 'Europe/Nowhere', 'UTC') AS DATETIME(3)) AS charged_at"
      : column,
  );
  const { knex } = await planted(...VIEWS, RIGHT);
  await knex.raw(`ALTER VIEW charges AS SELECT ${columns.join(", ")} FROM their_charges`);
  expect((await checkLedgerOf(knex)).errors[0]).toBe(
    `charges.charged_at is NULL or no date from 1971 to 9998: 3, for example provider_id 1, id 1: ${INSTANT}`,
  );
});

it("what could not be counted in time is told, and what else is wrong is counted", async () => {
  const database = await planted(
    ...VIEWS,
    RIGHT,
    "INSERT INTO their_wallets VALUES (1, 7)",
    `ALTER VIEW payouts AS SELECT * FROM their_payouts WHERE BENCHMARK(1000000000000 + id, SHA2(id, 256)) = 0`,
  );
  const pool = testPool(database.url, { maxStatement: 500 });
  const { errors } = await checkLedgerOf(pool);
  await pool.destroy();
  expect(errors.slice(-2)).toEqual([
    expect.stringMatching(/^wallets has more than one row of the same \(provider_id\): 1, /),
    expect.stringMatching(
      /^payouts has more than one row .*: not counted: .*(exceeded|interrupted)/,
    ),
  ]);
});

it("tables of this service are not counted; one of charges that is empty beside adopted ones is a warning", async () => {
  const views = VIEWS.filter((sql) => !/TABLE (charges|rentals);/.test(sql));
  const { knex } = await planted(...views);
  const empty =
    "charges is a table of this service and empty, so every provider has earned nothing: ";
  expect(await checkLedgerOf(knex)).toEqual({
    errors: [],
    warnings: [expect.stringContaining(empty)],
  });
  await knex("charges").insert({
    provider_id: 1,
    server_id: 1,
    charged_at: "2026-01-01",
    gross: 1,
  });
  await knex.raw("INSERT INTO their_servers VALUES (1, 1, 'a', '', '', '', 1, NULL)");
  await knex.raw("INSERT INTO their_providers VALUES (1, 'one'), (2, 'two')");
  expect(await checkLedgerOf(knex)).toEqual({ errors: [], warnings: [] });
  await knex.raw("UPDATE their_servers SET provider_id = 2");
  expect((await checkLedgerOf(knex)).errors).toEqual([
    `charges of no server of their provider: 1, for example provider_id 1, server_id 1: ${SERVER}`,
  ]);
});
