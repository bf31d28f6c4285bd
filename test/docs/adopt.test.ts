/**
 * docs/adopt.md, typed word by word on a server of its own: tier 0, UUIDs and tier 1 over the ledgers in
 * `examples/adopt`. Answers are sums over the tables of these ledgers, also while both are written.
 */
import type { Knex } from "knex";
import type { ResultSetHeader } from "mysql2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPrivateDatabase } from "../../dev/private-database/private-database.ts";
import { createRandom } from "../../dev/random.ts";
import { checkLedger } from "../../src/db/contract/columns.ts";
import { toDatetime } from "../../src/db/datetime.ts";
import { createRead } from "../../src/db/query.ts";
import { createRevenueService } from "../../src/revenue/service.ts";
import { rollUp } from "../../src/rollup/write/run.ts";
import { verify } from "../../src/rollup/write/verify.ts";
import { connectTo, testPool } from "../support/database.ts";
import { sum, usd } from "../support/ledger/amounts.ts";
import { atTimeOfCall, breakdownOf, overviewOf, payoutsOf } from "../support/ledger/call.ts";
import { createTerminal } from "./adopt/client.ts";
import { blocksOf, codeIn, page, section, tableIn } from "./markdown.ts";

const PAGE = "docs/adopt.md";
// With a binary log, as most servers have, and MySQL by default.
const server = await startPrivateDatabase({
  bufferPool: "64M",
  timeZone: "-05:00",
  serverOptions: ["--log-bin=binlog", "--server-id=1"],
});
const owner = await connectTo(server.url, { multipleStatements: true });

/** The URL of a database of the server, for the owner, or for an account that may only SELECT in it. */
const urlOf = (database: string, account?: string): string => {
  const url = Object.assign(new URL(server.url), { pathname: `/${database}` });
  return account === undefined
    ? url.href
    : Object.assign(url, { username: account, password: account }).href;
};
/** The terminals of the server's owner, and of the account that the page describes for tier 1. */
const terminals = {
  owner: createTerminal(server.url),
  tier1: createTerminal(urlOf("revenue_tables", "tier1")),
};
const URLS = {
  DATABASE_URL: urlOf("revenue"),
  DEPOT_URL: urlOf("revenue_depot"),
  TABLES_URL: urlOf("revenue_tables"),
};
const pools: Knex[] = [];
const poolOf = (database: string): Knex => {
  const pool = testPool(urlOf(database));
  pools.push(pool);
  return pool;
};

beforeAll(async () => {
  // A private server begins with an empty database of that name.
  await owner.query("DROP DATABASE IF EXISTS revenue; CREATE USER service IDENTIFIED BY 'service'");
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.destroy()));
  await owner.end();
  await server.stop();
  for (const terminal of Object.values(terminals)) terminal.remove();
});

/** The commands of a section, in order. */
const commandsOf = (title: string): string[] =>
  blocksOf(section(PAGE, title))
    .filter(({ language }) => language === "sh")
    .flatMap(({ text }) => text.trimEnd().split("\n"));

/** Types a command. */
async function type(line: string, terminal = terminals.owner) {
  const [, name = "DATABASE_URL", command = line] = /^DATABASE_URL=\$(\w+) (.*)$/.exec(line) ?? [];
  const url = URLS[name as keyof typeof URLS];
  const pathname = new URL(url).pathname.slice(1);
  const isService = command.startsWith("npm start");
  if (isService) await owner.query(`GRANT SELECT ON ${pathname}.* TO service`);
  return terminal.type(command, { DATABASE_URL: isService ? urlOf(pathname, "service") : url });
}

/** Types commands, each of which must succeed. Resolves to what they print. */
async function typeAll(lines: readonly string[], terminal = terminals.owner): Promise<string> {
  let printed = "";
  for (const line of lines) {
    const { code, stdout, stderr } = await type(line, terminal);
    expect({ line, code, stderr: code === 0 ? "" : stderr }).toEqual({ line, code: 0, stderr: "" });
    printed += stdout;
  }
  return printed;
}

const NOW = "2026-06-01T00:00:00.000Z";

/** A service on a database, whose calls are made at a time of the examples. */
const serviceOn = (database: string) =>
  createRevenueService(atTimeOfCall(createRead(poolOf(database))));

type Answer = Record<string, never>;
const textOf = (answer: unknown) => (answer as { value: string }).value;
const amount = (cents: string | number) => usd(BigInt(cents)).value;

/** The rows of a query about the tables that are adopted. */
async function rowsOf<Row extends string>(sql: string, values: (string | number)[] = []) {
  const [rows] = await owner.query<never[]>(sql, values);
  return rows as unknown as Record<Row, string>[];
}

/** The sums over the shop's own tables, of a merchant and a period. */
async function sumsOfShop(merchant: number, ...period: Period) {
  const [start = "", end = ""] = period.map((text) => text.slice(0, -1).replace("T", " "));
  const paid = "status = 'paid' AND paid_at >= ? AND paid_at <= ?";
  const machines = await rowsOf<"uuid" | "cents">(
    `SELECT uuid, COALESCE(SUM(total_cents), 0) AS cents FROM shop.machines AS m
     LEFT JOIN shop.orders AS o ON o.machine_id = m.id AND ${paid}
     WHERE m.merchant_id = ? GROUP BY m.id, uuid`,
    [start, end, merchant],
  );
  const [rentals] = await rowsOf<"count">(
    `SELECT COUNT(*) AS count FROM shop.orders
     WHERE merchant_id = ? AND status = 'paid' AND total_cents >= 0 AND booked_from <= ?
       AND (booked_until IS NULL OR booked_until >= ? AND booked_until >= booked_from)`,
    [merchant, end, start],
  );
  return {
    total: usd(sum(machines.map(({ cents }) => BigInt(cents)))).value,
    rentals: Number(rentals?.count),
    byMachine: new Map(machines.map(({ uuid, cents }) => [uuid, amount(cents)])),
  };
}

type Period = readonly [start: string, end: string];
const YEAR: Period = ["2026-01-01T00:00:00.000Z", NOW];
const PERIODS: readonly Period[] = [YEAR, ["2026-02-03T04:05:06.007Z", "2026-03-03T04:05:06.007Z"]];

/** Compares answers about both merchants with the shop's tables. Other RPCs agree with these on any ledger. */
async function compareWithShop(database: string): Promise<void> {
  const service = serviceOn(database);
  for (const merchant of [1, 2]) {
    for (const period of PERIODS) {
      const sums = await sumsOfShop(merchant, ...period);
      const answer = (await breakdownOf(service, BigInt(merchant), NOW, ...period)) as Answer;
      expect(textOf(answer.totalRevenue)).toBe(sums.total);
      expect(answer.totalRentals).toBe(sums.rentals);
      for (const { serverId, totalRevenue } of answer.servers as unknown as Answer[]) {
        expect(textOf(totalRevenue)).toBe(sums.byMachine.get(serverId ?? ""));
      }
    }
    const year = await sumsOfShop(merchant, ...YEAR);
    const overview = (await overviewOf(service, BigInt(merchant), NOW)) as Answer;
    const { summary } = overview as unknown as { summary: Answer };
    expect(textOf(summary.grossRevenueYTD)).toBe(year.total);
  }
}

const draw = createRandom(7);
const whole = (below: number) => draw.integer(0, below);

/** What the shop does: orders, some paid at once and some later, refunds, ends that come later. */
async function trade(orders: number): Promise<void> {
  // Whatever zone the shop's sessions are in.
  await owner.query("SET time_zone = '+09:00'");
  for (let nth = 0; nth < orders; nth++) {
    const machine_id = 1 + whole(4);
    const from = Date.parse("2026-01-01") + whole(150 * 86_400) * 1_000;
    const at = (hours: number) => toDatetime(from + hours * 3_600_000 + whole(1_000));
    const isPaid = whole(2) === 0;
    const order = {
      machine_id,
      merchant_id: machine_id === 4 ? 2 : 1,
      status: isPaid ? "paid" : "open",
      total_cents: whole(3) === 0 ? -whole(5_000) : whole(50_000),
      booked_from: at(0),
      booked_until: whole(2) ? at(5) : null,
      paid_at: isPaid ? at(6) : null,
    };
    const [{ insertId }] = await owner.query<ResultSetHeader>(
      "INSERT INTO shop.orders SET ?",
      order,
    );
    const update = (set: string, time: string) =>
      owner.query(`UPDATE shop.orders SET ${set} WHERE id = ?`, [time, insertId]);
    if (!isPaid && whole(3) > 0) await update("status = 'paid', paid_at = ?", at(7));
    if (whole(2) === 0) await update("booked_until = COALESCE(booked_until, ?)", at(9));
  }
}

describe("tier 0", () => {
  it("is typed as the page says, and adopts what is there", async () => {
    const lines = commandsOf("Tier 0: views");
    const printed = await typeAll(lines);
    for (const view of ["providers", "wallets", "servers", "payouts", "charges", "rentals"]) {
      expect(printed).toContain(`adopted ${view}: it stays as it is\n`);
    }
    expect(printed).not.toContain("makes a temporary table");
    const others = commandsOf("Check it").filter((line) => !lines.includes(line));
    expect(others).toEqual([]);
  });

  it("answers are sums over the shop's tables, at once", async () => {
    await compareWithShop("revenue");
    await trade(40);
    await compareWithShop("revenue");
    const page = (await payoutsOf(serviceOn("revenue"), 1n, {}, NOW)) as Answer;
    const [payout] = page.payouts as unknown as Answer[];
    expect(payout).toMatchObject({ payoutId: "SET-1", date: "2026-01-31T12:00:00Z" });
    expect(textOf(payout?.amount)).toBe("100.00");
  });

  it("npm run rollup names the keys that it needs", async () => {
    const { code, stderr } = await type("npm run rollup");
    expect(code).toBe(1);
    expect(stderr).toContain(
      "error: charges is a view: rollups need a table with the keys PRIMARY (provider_id, charged_at, …), charges_by_recording (provider_id, recorded_at, …); rentals is a view: ",
    );
  });

  it("UUIDs: answers are sums over the depot's tables", async () => {
    const rows = await rowsOf<"id" | "cents">(
      `SELECT n.id, CAST(SUM(e.amount) * 100 AS SIGNED) AS cents FROM depot.entries AS e
       JOIN depot.numbers AS n ON n.uid = e.account_uid GROUP BY n.id`,
    );
    expect(rows).toHaveLength(2);
    const service = serviceOn("revenue_depot");
    for (const { id, cents } of rows) {
      const answer = (await breakdownOf(service, BigInt(id), NOW, ...YEAR)) as Answer;
      expect(textOf(answer.totalRevenue)).toBe(amount(cents));
      expect((answer.servers as unknown as Answer[])[0]?.serverId).toMatch(
        /^dd0{6}-0000-0000-0000-0{11}[12]$/,
      );
    }
    const [, lost] = /`(SELECT COUNT[^`]*)` must be 0/.exec(page(PAGE)) ?? [];
    expect((await rowsOf(lost ?? "no query")).map((row) => Object.values(row))).toEqual([[0]]);
  });
});

const TIER_1 = "Tier 1: tables for charges and rentals";
const COPY = 'mariadb --execute "CALL revenue_tables.copy_orders(0)"';

describe("what does not fit", () => {
  it("a balance by the page's view reads the moves of one merchant, prepared as the service sends it", async () => {
    await owner.query(`CREATE TABLE shop.moves (id int AUTO_INCREMENT PRIMARY KEY, merchant_id int unsigned NOT NULL,
      cents bigint NOT NULL, KEY moves_by_merchant (merchant_id)); CREATE DATABASE revenue_moves; USE revenue_moves;
      INSERT INTO shop.moves (merchant_id, cents) VALUES (1, 500), (1, -120)`);
    for (let nth = 0; nth < 9; nth++) {
      await owner.query(`INSERT INTO shop.moves (merchant_id, cents) SELECT 2, 1 FROM shop.moves`);
    }
    const [view] = blocksOf(section(PAGE, "What is read"));
    await owner.query(view?.text ?? "no view");
    expect((await checkLedger(poolOf("revenue_moves"), ["wallets"])).join()).toBe("");
    const sql = "SELECT available_balance FROM wallets WHERE provider_id = ?";
    await owner.query("FLUSH STATUS");
    const [rows] = await owner.execute(sql, ["1"]);
    const reads = await rowsOf<"Value">("SHOW SESSION STATUS LIKE 'Handler_read%'");
    expect(rows).toEqual([{ available_balance: "3.80" }]);
    expect(reads.reduce((total, { Value }) => total + Number(Value), 0)).toBeLessThan(20);
  });

  it("expressions of the first table do what it says", async () => {
    const fit = tableIn(section(PAGE, "Does it fit?"), "your ledger", "if not");
    const code = fit.flatMap(([, how = ""]) => codeIn(how));
    const pick = (start: string) => code.find((text) => text.startsWith(start)) ?? `no ${start}`;
    await owner.query("SET sql_mode = ''");
    const [row] = await rowsOf(
      `SELECT ${pick("IF(removed")} AS zero, ${pick("IF(type")} AS refund, ${pick("CONVERT_TZ")} AS instant,
         ${pick("IF(paid")} AS never, CAST(${pick("IF(paid").replaceAll("paid", "1767225600")} AS CHAR) AS seconds
       FROM (SELECT CAST(0 AS DATETIME) AS removed_at, 'refund' AS type, 500 AS cents, 0 AS paid,
         CAST('2026-07-01 12:00:00' AS DATETIME) AS at) AS theirs`,
    );
    // This server has no zone tables.
    expect(row).toEqual({
      ...{ zero: null, refund: -500, instant: null, never: null },
      // In a session of any zone, as that of who calls the copy is.
      seconds: "2026-01-01 00:00:00",
    });
    expect(await rowsOf(pick("SELECT COUNT"))).toEqual([{ "COUNT(*)": 0 }]);
  });
});

describe("tier 1", () => {
  it("is typed as the page says, beside tier 0, with the rights that it names", async () => {
    await owner.query(`CREATE USER tier1 IDENTIFIED BY 'tier1'; GRANT ALL ON revenue_tables.* TO tier1;
      GRANT SELECT ON shop.* TO tier1; GRANT TRIGGER ON shop.orders TO tier1`);
    const lines = commandsOf(TIER_1);
    const triggers = lines.findIndex((line) => line.endsWith("triggers.sql"));
    const printed = await typeAll(lines.slice(0, triggers), terminals.tier1);
    expect(printed).toContain("adopted payouts: it stays as it is\n");
    expect(printed).not.toContain("adopted charges");
    // The shop's own program, before there are triggers.
    const [program] = blocksOf(section(PAGE, TIER_1)).filter(({ language }) => language === "sql");
    await owner.query(program?.text ?? "no statements");
    const refused = await type(lines[triggers] ?? "", terminals.tier1);
    expect(refused.stderr).toContain("ERROR 1419");
    const [, setting] = /`(SET GLOBAL \w+ = 1)`/.exec(section(PAGE, TIER_1)) ?? [];
    await owner.query(setting ?? "no setting");
    const followed = await typeAll(lines.slice(triggers), terminals.tier1);
    // All but the order that the program has paid.
    expect(followed).toMatch(/^charges\n\d+\n/);
    expect(await rowsOf("SELECT gross FROM revenue_tables.charges WHERE rental_id = 50")).toEqual([
      { gross: "50.00" },
    ]);
    await compareWithShop("revenue_tables");
  });

  it("answers follow the shop, with rollups that agree, and the copy finds nothing that was missed", async () => {
    const pool = poolOf("revenue_tables");
    for (let round = 0; round < 2; round++) {
      await trade(25);
      expect(await typeAll([COPY], terminals.tier1)).toBe("charges\n0\n");
      const noAutocommit = COPY.replace("CALL", "SET autocommit = 0; CALL");
      expect(await typeAll([noAutocommit], terminals.tier1)).toBe("charges\n0\n");
      await compareWithShop("revenue_tables");
      await rollUp(pool, { margin: 0, seesTransactions: false });
      await compareWithShop("revenue_tables");
    }
    for (const provider of ["1", "2"]) {
      expect(await Array.fromAsync(verify(pool, provider))).toEqual([]);
    }
  });

  it("a rental that runs has no end, and gets it once", async () => {
    await owner.query(`INSERT INTO shop.orders (id, merchant_id, machine_id, status, total_cents, booked_from,
      booked_until, paid_at) VALUES (9000, 1, 1, 'paid', 100, '2026-05-01', '2100-01-01', '2026-05-01')`);
    const rental = async () => {
      await typeAll([COPY], terminals.tier1);
      return rowsOf<"ended_at">("SELECT ended_at FROM revenue_tables.rentals WHERE id = 90000");
    };
    expect(await rental()).toEqual([{ ended_at: null }]);
    const end = (time: string) =>
      owner.query("UPDATE shop.orders SET booked_until = ? WHERE id = 9000", [time]);
    await end("2026-05-02 00:00:00");
    const ended = await rental();
    expect(ended).toHaveLength(1);
    expect(ended[0]?.ended_at).not.toBeNull();
    await end("2026-05-03 00:00:00");
    await owner.query("UPDATE shop.orders SET status = 'disputed' WHERE id = 9000");
    expect(await rental()).toEqual(ended);
    await owner.query("UPDATE shop.orders SET status = 'paid' WHERE id = 9000");
    expect(await rental()).toEqual(ended);
  });

  it("a second delivery of an event counts once, with the key of the page", async () => {
    await owner.query("USE revenue_tables");
    const [key] = blocksOf(section(PAGE, "Tier 2: from another server"));
    await owner.query(key?.text ?? "no statement");
    const insert = `INSERT IGNORE INTO charges (provider_id, server_id, charged_at, gross, public_id)
      VALUES (9, 1, '2026-01-01', 1, 'event-1')`;
    for (let time = 0; time < 2; time++) await owner.query(insert);
    expect(await rowsOf("SELECT id FROM charges WHERE provider_id = 9")).toHaveLength(1);
  });
});
