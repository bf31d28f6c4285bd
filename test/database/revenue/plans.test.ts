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
  providersOf,
} from "../../support/ledger/call.ts";
import { addBulk } from "../../support/rollup/bulk.ts";
import {
  type Ran,
  recordStatements,
  STATEMENT_NAMES,
  STATEMENTS,
  type StatementName,
} from "../../support/statements.ts";
import { databaseOfFile, deleteRows, ROLLUPS } from "../file-database.ts";
import { finish } from "../rollup/write/built.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.now();
const ago = (days: number, hours = 0) =>
  new Date(NOW - 24 * HOUR * days + HOUR * hours).toISOString();
const day = (days: number) => ago(days).slice(0, 10);

/** One ledger goes back for five times as long as the other. A day has as many rows in both. */
const SHORT = { provider: 1, servers: 12, instances: 24, charges: 3_000, rentals: 300, days: 100 };
const LONG = { ...SHORT, provider: 2, charges: 15_000, rentals: 1_500, days: 500 };
/** A provider without a rollup. */
const RAW = { ...SHORT, provider: 3 };
/** The payouts of the second, and of each of some others. */
const PAYOUTS = 5_000;
/** A provider with as many charges, and payouts, on one instant. */
const CROWD = { ...SHORT, provider: 4, together: 2_500 };
/** The difference between the two that chance may make: where the rows of an hour or a day lie. */
const TOLERANCE = 60;
/** Days also add up all days of the rollup, and an overview all months: so many more of the longer ledger. */
const MORE_DAYS = LONG.days - SHORT.days;
const MORE_MONTHS = Math.ceil(MORE_DAYS / 28);
/** To add a row up, the database may also look up its group, and write and read it in a table of the UNION. */
const READS_PER_ROW = 3;

const database = await databaseOfFile();
/** A pool of one connection, whose counters count what is read through it. */
const session = testPool(database.url, { maxConnections: 1 });
afterAll(() => session.destroy());
beforeAll(async () => {
  const { knex } = database;
  await addBulk(knex, [SHORT, LONG, RAW, CROWD]);
  // As many rentals run in both.
  await knex.raw(
    `UPDATE rentals SET ended_at = started_at + INTERVAL 1 HOUR, updated_at = started_at + INTERVAL 1 HOUR
     WHERE ended_at IS NULL AND started_at < UTC_TIMESTAMP(3) - INTERVAL 30 DAY`,
  );
  // A scan of a few rows would be cheaper than a lookup of each.
  const others = Array.from({ length: 500 }, (_, index) => ({ provider_id: index + 100 }));
  await knex("wallets").insert(others.map((other) => ({ ...other, available_balance: "1.00" })));
  const payout = { amount: "1.00", method: "", status: "" };
  const payoutOf = (id: number, nth: number) => {
    const paid_at = toDatetime(NOW - (PAYOUTS - nth) * HOUR);
    return { ...payout, provider_id: id, public_id: `${id} ${nth}`, paid_at };
  };
  for (const id of [LONG.provider, 100, 101, 102, 103]) {
    const payouts = Array.from({ length: PAYOUTS }, (_, nth) => payoutOf(id, nth));
    await knex.batchInsert("payouts", payouts, 1_000);
  }
  const [at, own] = [toDatetime(NOW - 10 * DAY), { provider_id: CROWD.provider }];
  const nths = Array.from({ length: CROWD.together }, (_, nth) => nth);
  const charge = { ...own, server_id: 4_001, charged_at: at, gross: "1.00" };
  const together = nths.map(() => charge);
  await knex.batchInsert("charges", together, 1_000);
  const paid = nths.map((nth) => ({ ...payoutOf(CROWD.provider, nth), paid_at: at }));
  await knex.batchInsert("payouts", paid, 1_000);
  const server = { name: "", status: "", price_per_hour: "1.0000" };
  const serverOf = (id: number) => ({ ...server, provider_id: id, uuid: `other-${id}` });
  await knex("servers").insert(others.map(({ provider_id }) => serverOf(provider_id)));
  await knex.raw(
    `ANALYZE TABLE ${["charges", "rentals", "servers", "instances", "wallets", "payouts"].join()}`,
  );
});

const STATUS = "SHOW SESSION STATUS LIKE 'Handler_read%'";

/** How many rows and index entries the session has read. */
async function readSoFar(): Promise<number> {
  const [status] = await session.raw(STATUS);
  return status.reduce((sum: number, row: { Value: string }) => sum + Number(row.Value), 0);
}

/** A row of EXPLAIN, of these columns among others. */
type Step = Record<"table" | "type" | "key" | "rows" | "Extra", string | null>;

/** A connection with a session as those of the service, whose counters count what is read through it. */
const counted = testPool(database.url, { maxConnections: 1, readOnly: true });
const connection: Connection = await counted.client.acquireConnection();
afterAll(async () => {
  counted.client.releaseConnection(connection);
  await counted.destroy();
});

/** A `Read` on that connection that counts the rows and index entries that each statement reads. */
function counting(): { readonly read: Read; readonly rows: number[] } {
  const rows: number[] = [];
  const soFar = async () => {
    const [status] = await connection.promise().query<RowDataPacket[]>(STATUS);
    return status.reduce((sum, { Value }) => sum + Number(Value), 0);
  };
  const query: Query = async (sql, bindings) => {
    // It is sent after the answer, which does not wait for it: its reads would count with those of the next one.
    if (sql === STATEMENTS.size.sql) return [];
    const before = await soFar();
    const overhead = (await soFar()) - before;
    const values = [...bindings];
    const [result] = await connection.promise().execute({ sql, values, rowsAsArray: true });
    rows.push((await soFar()) - before - 2 * overhead);
    return result as unknown as Row[];
  };
  return { rows, read: (work) => work({ query, transaction: (inside) => inside() }) };
}

/** The ends of a period of a breakdown, or of its days in a zone; undefined for an overview. */
type Question = readonly [start: string, end: string, zone?: string] | undefined;

/** A service that can be asked a question. Resolves to how much each statement read. */
function asked({ provider }: typeof SHORT, question: Question) {
  const { read: counted, rows } = counting();
  const { read, take } = recordStatements(counted);
  const service = createRevenueService(read);
  return async () => {
    const now = new Date().toISOString();
    if (question === undefined) await overviewOf(service, BigInt(provider), now);
    else {
      const [start, end, zone] = question;
      await (zone ? dailyOf : breakdownOf)(service, BigInt(provider), now, start, end, zone);
    }
    const read = rows.splice(0);
    const ran = take().filter(({ name }) => name !== "size");
    const sent = ran.map(({ name }, nth) => ({ name, rows: read[nth] ?? Infinity }));
    for (const { rows } of sent.filter(({ name }) => name === "facts"))
      expect(rows).toBeLessThan(5);
    return sent.filter(({ name }) => name !== "facts");
  };
}

/** Asks twice. */
async function rowsRead(ledger: typeof SHORT, question: Question) {
  const ask = asked(ledger, question);
  return [...(await ask()), ...(await ask())];
}

const QUESTIONS: readonly (readonly [string, Question])[] = [
  ["an overview", undefined],
  ["the default period", ["", ""]],
  ["a period in the past", [ago(90, 3), ago(45, 5)]],
  ["a period of whole days", [day(90), day(45)]],
  ["a period up to now", [ago(90, 3), ago(0)]],
  ["a period within a leaf", [`${day(40)}T09:00Z`, `${day(40)}T10:00Z`]],
  ["a period before the first charge", ["0001-01-01", "0001-01-02"]],
  ["a period after now", [ago(-1), "9999-12-31"]],
  ["all of time", ["0001-01-01", "9999-12-31"]],
];

/** Builds a rollup up to an hour ago, with leaves of the length that suits the ledger. */
async function build({ provider }: typeof SHORT): Promise<void> {
  const watermark = toDatetime(NOW - HOUR);
  await beginBuild(database.knex, String(provider), watermark, undefined, true);
  await finish(database.knex, String(provider), watermark);
}

describe("with a rollup, the age of the ledger makes no difference to", () => {
  beforeAll(async () => {
    for (const ledger of [SHORT, LONG]) await build(ledger);
    await database.knex.raw(`ANALYZE TABLE ${Object.values(TABLES).join()}`);
  });

  it.each(QUESTIONS)("%s", async (_name, question) => {
    const [short, long] = [await rowsRead(SHORT, question), await rowsRead(LONG, question)];
    expect(short.at(-2)?.name).toMatch(/^(full|half|cached)/);
    expect(short.at(-1)?.name).toMatch(/^cached/);
    for (const [nth, { name, rows }] of long.entries()) {
      const compared = name === "fullOverview" ? READS_PER_ROW * MORE_MONTHS : 0;
      const atMost = (short[nth]?.rows ?? 0) + TOLERANCE + compared;
      expect(rows, `${name}: ${JSON.stringify([short, long])}`).toBeLessThanOrEqual(atMost);
    }
  });

  it.each<[string, Question]>([
    ["days up to now", ["", "", "UTC"]],
    ["days and parts of two", [ago(90, 3), ago(45, 5), "UTC"]],
    ["a part of a day", [`${day(40)}T09:00Z`, `${day(40)}T10:00Z`, "UTC"]],
    ["days before the first charge", ["0001-01-01", "0001-12-31", "UTC"]],
  ])("%s", async (_name, question) => {
    const [short, long] = [await rowsRead(SHORT, question), await rowsRead(LONG, question)];
    expect(long[0]?.rows).toBeLessThanOrEqual((short[0]?.rows ?? 0) + TOLERANCE + MORE_DAYS);
  });

  it.each([
    // To return a row, the database also writes and reads it in a table of the UNION.
    ["a row for each of 400 days", day(399), "", READS_PER_ROW * 400 + LONG.days + 2 * TOLERANCE],
    // The other rows that it reads are as many.
    [
      "none of the charges of a whole day",
      day(40),
      day(40),
      LONG.days + (1.5 * LONG.charges) / LONG.days + TOLERANCE,
    ],
  ])("days read %s", async (_, start, end, fewer) => {
    const [read] = await rowsRead(LONG, [start, end, "UTC"]);
    expect(read?.rows).toBeLessThan(fewer);
  });

  it.each<[string, { skipped?: number; startDate?: string; endDate?: string }]>([
    ["the first page", {}],
    ["a page in the middle", { skipped: 2_500 }],
    ["the last page", { skipped: PAYOUTS - 50 }],
    ["a page of the latest year", { startDate: day(365) }],
    ["a page of an early day", { endDate: day(200) }],
  ])("%s of payouts reads its rows and no others", async (_, { skipped = 0, ...request }) => {
    const { read, rows } = counting();
    const service = createRevenueService(read);
    const ask = async (more: object) =>
      (await payoutsOf(service, BigInt(LONG.provider), { ...request, ...more })) as {
        payouts: object[];
        nextPageToken: string;
      };
    let pageToken = "";
    for (let left = skipped; left > 0; left -= 500) {
      pageToken = (await ask({ pageSize: Math.min(left, 500), pageToken })).nextPageToken;
    }
    const page = await ask({ pageToken });
    expect(page.payouts).toHaveLength(50);
    expect(page.nextPageToken !== "").toBe(skipped < PAYOUTS - 50);
    // To return a row, the database also writes and reads it in a table of the UNION.
    expect(rows.at(-1)).toBeLessThan(3 * 51 + TOLERANCE);
  });

  it("a slice of a check reads the rows that it has, and not the whole ledger", async () => {
    const ROWS = 500;
    const before = await readSoFar();
    await session.transaction(async (reader) => {
      const { current } = await readRollups(reader, "2");
      if (current === undefined) throw new Error("expected a rollup");
      const from = toDatetime(NOW - 300 * DAY);
      await nextSlice(reader, current, { stored: [], width: 0 }, from, ROWS);
    });
    // Of each of three columns: up to the end of the slice, and once more to group its rows.
    expect((await readSoFar()) - before).toBeLessThan(3 * 4 * ROWS);
  });
});

describe("with the increments of a rollup, the age of the ledger makes no difference to", () => {
  beforeAll(async () => {
    for (const ledger of [SHORT, LONG]) await build(ledger);
    await database.knex.raw(`ANALYZE TABLE ${Object.values(TABLES).join()}`);
  });

  it.each<[string, Question]>([
    ["days up to now", ["", "", "Asia/Kathmandu"]],
    ["days and parts of two", [ago(90, 3), ago(45, 5), "America/New_York"]],
    ["days of UTC", [ago(90, 3), ago(45, 5), "UTC"]],
  ])("%s", async (_name, question) => {
    const [short, long] = [await rowsRead(SHORT, question), await rowsRead(LONG, question)];
    // Each of the days may have an hour more with charges.
    expect(long[0]?.rows).toBeLessThanOrEqual((short[0]?.rows ?? 0) + 2 * TOLERANCE + MORE_DAYS);
  });

  it("400 days of another zone, of which it reads their hours with charges", async () => {
    const [read] = await rowsRead(LONG, [day(399), "", "Asia/Kolkata"]);
    expect(read?.rows).toBeLessThan((READS_PER_ROW * 400 * LONG.charges) / LONG.days);
  });
});

describe("the plan of a statement scans no table and no large part of one, and reads the ledger's keys alone:", () => {
  /** As the service sends them. */
  const sent = new Map<StatementName, Ran>();
  beforeAll(async () => {
    await build(LONG);
    await database.knex.raw(`ANALYZE TABLE ${Object.values(TABLES).join()}`);
    const period = [ago(40, 3), ago(20, 5)] as const;
    const days = [...period, ...[ago(10, 5), ago(300)]];
    const recorded = recordStatements(createRead(session));
    const call = async ({ provider }: { readonly provider: number }) => {
      const service = createRevenueService(recorded.read);
      const [id, now] = [BigInt(provider), new Date().toISOString()];
      for (const [start, end] of [period, period, [period[0], days[2]]] as const) {
        await overviewOf(service, id, now);
        await breakdownOf(service, id, now, start, end ?? "");
      }
      // In so many days, clocks are changed.
      for (const zone of ["UTC", "Asia/Kolkata", "America/New_York"]) {
        for (const start of [period[0], ago(300), ago(300)]) {
          await dailyOf(service, id, now, start, period[1], zone);
        }
      }
      for (const pageSize of [0, 1_000]) {
        await payoutsOf(service, id, { pageSize });
        await chargesOf(service, id, { pageSize });
      }
      await providersOf(service, { startDate: period[0], endDate: period[1] });
      for (const ran of recorded.take()) if (!sent.has(ran.name)) sent.set(ran.name, ran);
    };
    await call(LONG);
    await call(RAW);
  });

  it.each(STATEMENT_NAMES)("%s", async (name) => {
    const { bindings = [] } = sent.get(name) ?? {};
    const explain = `EXPLAIN FORMAT=TRADITIONAL ${STATEMENTS[name].sql}`;
    const [steps = []]: Step[][] = await session.raw(explain, bindings as string[]);
    const reads = steps.filter(({ table }) => table !== null && !table.startsWith("<"));
    expect(reads.length).toBeGreaterThan(0);
    for (const { table, type, rows } of reads) {
      expect(type, `how ${table} is read`).not.toBe("ALL");
      // The estimate is of the whole range, or twice that; the limit leaves a page (the next test).
      const others = table === "rollup_increments" ? LONG.charges : LONG.charges / 10;
      const most = table === "payouts" ? 3 * PAYOUTS : others;
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
  ["charges", chargesOf, 3, 50],
  ["charges", chargesOf, 3, 1_000],
  ["payouts", payoutsOf, 1, 50],
  ["payouts", payoutsOf, 1, 1_000],
] as const)(
  "a page of %s reads its rows and no others, wherever it begins (%#)",
  async (...each) => {
    const [list, ask, rowsOfEach, pageSize] = each;
    const { read, rows } = counting();
    const service = createRevenueService(read);
    const now = new Date().toISOString();
    const request = { startDate: ago(300), pageSize };
    let pages = 0;
    for (let pageToken = ""; pages === 0 || pageToken !== ""; pages++) {
      const page = await ask(service, BigInt(CROWD.provider), { ...request, pageToken }, now);
      ({ nextPageToken: pageToken } = page as { nextPageToken: string });
      // One row more tells whether there is another page; of a charge, server and instance are looked up.
      expect(rows.splice(0).at(-1), `page ${pages} of ${list}`).toBeLessThan(
        (rowsOfEach + 1) * (pageSize + 1) + 20,
      );
    }
    expect(pages).toBeGreaterThanOrEqual(CROWD.together / pageSize);
  },
);

describe("without a rollup", () => {
  beforeAll(async () => {
    await deleteRows(database.knex, ROLLUPS);
  });

  /** To add a row up, the database also looks up its group. */
  const READS = 2;

  it.each([
    ["an overview", undefined, LONG.charges],
    ["all of time", ["0001-01-01", "9999-12-31"], LONG.charges + LONG.rentals],
    ["a period", [day(90), day(45)], 46 * (LONG.charges / LONG.days) + LONG.rentals],
    ["days", [day(90), day(45), "UTC"], 46 * (LONG.charges / LONG.days)],
  ] as const)("%s reads each of its rows once", async (_name, question, ledger) => {
    for (const { name, rows } of await rowsRead(LONG, question)) {
      // Beside them, the servers, the instances and the groups.
      expect(rows, name).toBeLessThan(READS * ledger + 1_000);
    }
  });
});

it("cached sums that are outdated are not looked for in the database: the sums are read at once", async () => {
  await build(LONG);
  const asks = [undefined, ["0001-01-01", "9999-12-31"] as const].map((question) =>
    asked(LONG, question),
  );
  for (const ask of asks) await ask();
  await build(LONG);
  for (const ask of asks) {
    const answered = await ask();
    expect(answered.map(({ name }) => name)).toEqual([expect.stringMatching(/^(full|half)/)]);
  }
});
