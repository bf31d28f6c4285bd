/**
 * What statements read. With a rollup it is what the question asks for, however far the ledger goes
 * back; without one it is each row of the period once. Counted by the database itself, on a connection
 * that reuses its prepared statements.
 */
import type { Connection, RowDataPacket } from "mysql2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toDatetime } from "../../../src/db/datetime.ts";
import { createRead, type Query, type Read, type Row } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { TABLES } from "../../../src/rollup/coverage.ts";
import { beginBuild } from "../../../src/rollup/write/build.ts";
import { nextSlice } from "../../../src/rollup/write/slice.ts";
import { readRollups } from "../../../src/rollup/write/state.ts";
import { testPool } from "../../support/database.ts";
import {
  breakdownOf,
  chargesOf,
  dailyOf,
  overviewOf,
  payoutsOf,
} from "../../support/ledger/call.ts";
import { everyStatement } from "../../support/ledger/every-statement.ts";
import { addBulk } from "../../support/rollup/bulk.ts";
import { recordStatements, STATEMENT_NAMES, STATEMENTS } from "../../support/statements.ts";
import { databaseOfFile } from "../file-database.ts";
import { finish } from "../rollup/write/built.ts";

const [HOUR, DAY] = [3_600_000, 86_400_000];
const NOW = Date.now();
const ago = (days: number, hours = 0) => new Date(NOW - DAY * days + HOUR * hours).toISOString();
const day = (days: number) => ago(days).slice(0, 10);
/** 400 days of any zone, that are over in all of them. */
const [FIRST_OF_400, LAST_OF_400] = [day(401), day(2)];
/** Ten days before and after a change of clocks in New York, all of them over for two weeks. */
const CHANGE = Temporal.Instant.fromEpochMilliseconds(NOW - 25 * DAY)
  .toZonedDateTimeISO("America/New_York")
  .getTimeZoneTransition("previous");
if (CHANGE === null) throw new Error("expected a change of clocks");
const AROUND_CHANGE = [
  CHANGE.subtract({ days: 10 }).toInstant().toString(),
  CHANGE.add({ days: 10 }).toInstant().toString(),
] as const;

/** One ledger goes back for five times as long as the other. A day has as many rows in both. */
const SHORT = { provider: 1, servers: 12, instances: 24, charges: 3_000, rentals: 300, days: 100 };
const LONG = { ...SHORT, provider: 2, charges: 15_000, rentals: 1_500, days: 500 };
/** A provider without a rollup, and with so many charges and payouts on one instant. */
const RAW = { ...LONG, provider: 3, together: 2_500 };
/** The difference between the two that chance may make: where the rows of an hour or a day lie. */
const TOLERANCE = 60;
/** Days also add up all days of the rollup, and an overview all months: so many more of the longer ledger. */
const MORE_DAYS = LONG.days - SHORT.days;
const MORE_MONTHS = Math.ceil(MORE_DAYS / 28);
/** To add a row up, the database may also look up its group, and write and read it in a table of the UNION. */
const READS_PER_ROW = 3;

const database = await databaseOfFile();
const { knex } = database;
/** A connection with a session as those of the service, whose counters count what is read through it. */
const counted = testPool(database.url, { maxConnections: 1, readOnly: true });
const connection: Connection = await counted.client.acquireConnection();
afterAll(async () => {
  counted.client.releaseConnection(connection);
  await counted.destroy();
});

beforeAll(async () => {
  await addBulk(knex, [SHORT, LONG, RAW]);
  // As many rentals run in both.
  await knex.raw(
    `UPDATE rentals SET ended_at = started_at + INTERVAL 1 HOUR, updated_at = started_at + INTERVAL 1 HOUR
     WHERE ended_at IS NULL AND started_at < UTC_TIMESTAMP(3) - INTERVAL 30 DAY`,
  );
  // A scan of a few rows would be cheaper than a lookup of each.
  const others = Array.from({ length: 500 }, (_, nth) => ({ provider_id: nth + 100 }));
  await knex("wallets").insert(others.map((other) => ({ ...other, available_balance: "1.00" })));
  const server = { name: "", status: "", price_per_hour: "1.0000" };
  await knex("servers").insert(
    others.map((other) => ({ ...server, ...other, uuid: `other-${other.provider_id}` })),
  );
  const nths = Array.from({ length: RAW.together }, (_, nth) => nth);
  // In none of the periods whose plans are checked.
  const at = toDatetime(NOW - 5 * DAY);
  for (const [provider_id, apart] of Object.entries({ 2: HOUR, 3: 0, 100: HOUR, 101: HOUR })) {
    const payout = { provider_id, amount: "1.00", method: "", status: "" };
    const payouts = nths.map((nth) => {
      const paid_at = toDatetime(NOW - 10 * DAY - nth * apart);
      return { ...payout, public_id: `${provider_id} ${nth}`, paid_at };
    });
    await knex.batchInsert("payouts", payouts, 1_000);
  }
  const charge = { provider_id: RAW.provider, server_id: 3_001, charged_at: at, gross: "1.00" };
  const together = nths.map(() => charge);
  await knex.batchInsert("charges", together, 1_000);
  for (const { provider } of [SHORT, LONG]) {
    // With leaves of the length that suits the ledger.
    const watermark = toDatetime(NOW - HOUR);
    await beginBuild(knex, String(provider), watermark, undefined, true);
    await finish(knex, String(provider), watermark);
  }
  const ledger = ["charges", "rentals", "servers", "instances", "wallets", "payouts"];
  await knex.raw(`ANALYZE TABLE ${[...ledger, ...Object.values(TABLES)].join()}`);
});

/** How many rows and index entries a session has read. */
async function readBy(session: Connection): Promise<number> {
  const sql = "SHOW SESSION STATUS LIKE 'Handler_read%'";
  const [status] = await session.promise().query<RowDataPacket[]>(sql);
  return status.reduce((sum, { Value }) => sum + Number(Value), 0);
}

/** A `Read` on that connection that counts the rows and index entries that each statement reads. */
function counting(): { readonly read: Read; readonly rows: number[] } {
  const rows: number[] = [];
  const query: Query = async (sql, bindings) => {
    // It is sent after the answer, which does not wait for it: its reads would count with those of the next one.
    if (sql === STATEMENTS.size.sql) return [];
    const before = await readBy(connection);
    const overhead = (await readBy(connection)) - before;
    const values = [...bindings];
    const [result] = await connection.promise().execute({ sql, values, rowsAsArray: true });
    rows.push((await readBy(connection)) - before - 2 * overhead);
    return result as unknown as Row[];
  };
  return { rows, read: (work) => work({ query, transaction: (inside) => inside() }) };
}

/** The ends of a period of a breakdown, or of its days in a zone; undefined for an overview. */
type Question = readonly [start: string, end: string, zone?: string] | undefined;

/** Asks twice. Resolves to how much each statement read, without those of the facts. */
async function rowsRead({ provider }: typeof SHORT, question: Question) {
  const { read: counted, rows } = counting();
  const { read, take } = recordStatements(counted);
  const service = createRevenueService(read);
  for (let nth = 0; nth < 2; nth++) {
    const call = [service, BigInt(provider), new Date().toISOString()] as const;
    if (question === undefined) await overviewOf(...call);
    else await (question[2] ? dailyOf : breakdownOf)(...call, ...question);
  }
  const sent = take()
    .filter(({ name }) => name !== "size")
    .map(({ name }, nth) => ({ name, rows: rows[nth] ?? Infinity }));
  for (const { name, rows } of sent) if (name === "facts") expect(rows).toBeLessThan(5);
  return sent.filter(({ name }) => name !== "facts");
}

describe("with a rollup, the age of the ledger makes no difference to", () => {
  it.each<[string, Question]>([
    ["an overview", undefined],
    ["the default period", ["", ""]],
    ["a period in the past", [ago(90, 3), ago(45, 5)]],
    ["a period of whole days", [day(90), day(45)]],
    ["all of time", ["0001-01-01", "9999-12-31"]],
    ["days up to now", ["", "", "UTC"]],
    ["days and parts of two", [ago(90, 3), ago(45, 5), "UTC"]],
    ["days of another zone up to now", ["", "", "Asia/Kathmandu"]],
    ["days of a zone that changes its clocks", [ago(90, 3), ago(45, 5), "America/New_York"]],
  ])("%s", async (_name, question) => {
    const [short, long] = [await rowsRead(SHORT, question), await rowsRead(LONG, question)];
    expect(short.at(-2)?.name).toMatch(/^(full|cached|\w+Full)/);
    expect(short.at(-1)?.name).toMatch(/^(cached|\w+Cached)/);
    for (const [nth, { name, rows }] of long.entries()) {
      const months = name === "fullOverview" ? READS_PER_ROW * MORE_MONTHS : 0;
      // Each of the days of another zone may have an hour more with charges.
      const days = /Daily/.test(name) ? MORE_DAYS + TOLERANCE : 0;
      const atMost = (short[nth]?.rows ?? 0) + TOLERANCE + months + days;
      expect(rows, `${name}: ${JSON.stringify([short, long])}`).toBeLessThanOrEqual(atMost);
    }
  });

  it.each([
    // To return a row, the database also writes and reads it in a table of the UNION.
    [
      "a row for each of 400",
      FIRST_OF_400,
      LAST_OF_400,
      "UTC",
      READS_PER_ROW * 400 + LONG.days + 2 * TOLERANCE,
    ],
    // The other rows that it reads are as many.
    [
      ...(["none of the charges of a whole one", day(40), day(40), "UTC"] as const),
      LONG.days + (1.5 * LONG.charges) / LONG.days + TOLERANCE,
    ],
    [
      ...(["the hours with charges of 400", FIRST_OF_400, LAST_OF_400, "Asia/Kolkata"] as const),
      (READS_PER_ROW * 400 * LONG.charges) / LONG.days,
    ],
  ] as const)("days read %s", async (_, start, end, zone, fewer) => {
    const [read] = await rowsRead(LONG, [start, end, zone]);
    expect(read?.rows).toBeLessThan(fewer);
  });

  it("a slice of a check, which reads the rows that it has", async () => {
    const ROWS = 500;
    await knex.transaction(async (reader) => {
      const session = await reader.client.acquireConnection();
      const before = await readBy(session);
      const { current } = await readRollups(reader, "2");
      if (current === undefined) throw new Error("expected a rollup");
      const from = toDatetime(NOW - 300 * DAY);
      await nextSlice(reader, current, [], from, ROWS);
      // Of each of three columns: up to the end of the slice, and once more to group its rows.
      const read = (await readBy(session)) - before;
      expect(read).toBeGreaterThan(ROWS);
      expect(read).toBeLessThan(3 * 4 * ROWS);
    });
  });
});

/** A row of EXPLAIN, of these columns among others. */
type Step = Record<"table" | "type" | "key" | "rows" | "Extra", string | null>;

describe("the plan of a statement scans no table and no large part of one, and reads the ledger's keys alone:", () => {
  const periods = [20, 10].map((days) => [ago(40, 3), ago(days, 5)] as const);
  let sent: Awaited<ReturnType<typeof everyStatement>>;
  beforeAll(async () => {
    const providers = [LONG.provider, RAW.provider];
    sent = await everyStatement(createRead(knex), providers, [...periods, AROUND_CHANGE]);
  });

  it.each(STATEMENT_NAMES)("%s", async (name) => {
    const { bindings = [] } = sent.get(name) ?? {};
    const explain = `EXPLAIN FORMAT=TRADITIONAL ${STATEMENTS[name].sql}`;
    const [steps = []]: Step[][] = await knex.raw(explain, bindings as string[]);
    const reads = steps.filter(({ table }) => table !== null && !table.startsWith("<"));
    expect(reads.length).toBeGreaterThan(0);
    for (const { table, type, rows } of reads) {
      expect(type, `how ${table} is read`).not.toBe("ALL");
      // The estimate is of the whole range, or twice that; the limit leaves a page (the next test).
      const others = table === "rollup_increments" ? LONG.charges : LONG.charges / 10;
      const most = table === "payouts" ? 3 * RAW.together : others;
      const isLimited = name === "size" || name === "rawOverview";
      if (!isLimited) expect(Number(rows), `rows of ${table}`).toBeLessThan(most);
    }
    // A key of the ledger that does not hold all that is summed costs a look-up in the table for each row.
    const byKey = reads.filter(({ key }) => /^(charges|rentals)_by_/.test(key ?? ""));
    expect(byKey.filter(({ Extra }) => !/Using index(;|$)/.test(Extra ?? ""))).toEqual([]);
    if (name !== "rawOverview") {
      expect(byKey.length > 0).toBe(
        !/^(facts|payouts|charges|providersAfter)|rawDaily/i.test(name),
      );
    }
    const sorted = reads.filter(({ Extra }) => /filesort/.test(Extra ?? ""));
    expect(sorted.filter(({ table }) => table === "payouts" || /^charges/.test(name))).toEqual([]);
    // The overview has the latest payouts.
    const listed = reads.filter(({ table }) => table === /^(charges|payouts)Of/.exec(name)?.[1]);
    for (const { type, key } of listed) expect([type, key]).toEqual(["range", "PRIMARY"]);
  });
});

it.each([
  ["charges", chargesOf, 3, 50, RAW],
  ["charges", chargesOf, 3, 1_000, RAW],
  ["payouts", payoutsOf, 1, 50, RAW],
  ["payouts", payoutsOf, 1, 1_000, LONG],
] as const)(
  "a page of %s reads its rows and no others, wherever it begins (%#)",
  async (...each) => {
    const [list, ask, rowsOfEach, pageSize, { provider }] = each;
    const { read, rows } = counting();
    const service = createRevenueService(read);
    const now = new Date().toISOString();
    const request = { startDate: ago(300), pageSize };
    let pages = 0;
    for (let pageToken = ""; pages === 0 || pageToken !== ""; pages++) {
      const page = await ask(service, BigInt(provider), { ...request, pageToken }, now);
      ({ nextPageToken: pageToken } = page as { nextPageToken: string });
      // One row more tells whether there is another page; of a charge, server and instance are looked up.
      expect(rows.splice(0).at(-1), `page ${pages} of ${list}`).toBeLessThan(
        (rowsOfEach + 1) * (pageSize + 1) + 20,
      );
    }
    expect(pages).toBeGreaterThanOrEqual(RAW.together / pageSize);
  },
);

/** To add a row up, the database also looks up its group. */
const READS = 2;

it.each([
  ["an overview", undefined, RAW.charges],
  ["all of time", ["0001-01-01", "9999-12-31"], RAW.charges + RAW.rentals],
  ["a period", [day(90), day(45)], 46 * (RAW.charges / RAW.days) + RAW.rentals],
  ["days", [day(90), day(45), "UTC"], 46 * (RAW.charges / RAW.days)],
] as const)("without a rollup, %s reads each of its rows once", async (_name, question, ledger) => {
  const isWhole = question === undefined || question[0] === "0001-01-01";
  for (const { name, rows } of await rowsRead(RAW, question)) {
    // Beside them, the servers, the instances and the groups.
    const most = READS * (ledger + (isWhole ? RAW.together : 0)) + 1_000;
    expect(rows, name).toBeLessThan(most);
  }
});
