/**
 * Behind a proxy that sends each statement to another node, of which one is behind, while rollup runs change what
 * both have: each answer is that of one node, and none is refused.
 */
import type { Knex } from "knex";
import { afterAll, expect, it } from "vitest";
import { fromDatetime, toDatetime } from "../../../../src/db/datetime.ts";
import { createRead, type Read, type Session } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { factsStatement } from "../../../../src/rollup/read/facts.ts";
import { createDatabase } from "../../../support/database.ts";
import { rollUp } from "../../../support/rollup/roll-up.ts";
import { SOAK } from "../../../support/soak.ts";
import { databaseOfFile, ROLLUPS } from "../../file-database.ts";
import { wrapped } from "../read/compared.ts";
import { charge, rental } from "../write/built.ts";

const ANSWERS = 200 * SOAK;
/** How many changes the second node is behind, and how far its clock is, in ms. */
const [BEHIND, CLOCK] = [3, -2_000];

const { knex: primary } = await databaseOfFile();
const replica = await createDatabase();
afterAll(() => replica.drop());

/** A change of one node. */
type Change = (node: Knex) => Promise<unknown>;

/** Adds a rental and a charge of as many dollars as there are rentals then. */
function addNth(nth: number): Change {
  const [now, server] = [Date.now(), (nth % 3) + 1];
  const dated = now - (nth % 50) * 86_400_000 - 60_000;
  const [at, ended, recorded] = [toDatetime(dated), toDatetime(dated + 1_000), toDatetime(now)];
  return (node) =>
    node.transaction(async (transaction) => {
      await transaction("charges").insert(charge(at, recorded, `${nth}`, server));
      await transaction("rentals").insert(rental(at, ended, recorded, server));
    });
}

/** What a run has made of the rollups of the first node, for the second one. */
async function copyOfRollups(): Promise<Change> {
  const tables = await primary.transaction((reader) =>
    Promise.all(ROLLUPS.map(async (table) => [table, await reader(table)] as const)),
  );
  return (node) =>
    node.transaction(async (transaction) => {
      for (const [table, rows] of tables) {
        await transaction(table).del();
        await transaction.batchInsert(table, rows, 500);
      }
    });
}

/** A `Read` of the second node, by its clock. */
const ofReplica = wrapped(createRead(replica.knex), (query) => async (sql, ...rest) => {
  const rows = await query(sql, ...rest);
  if (sql !== factsStatement.sql) return rows;
  const now = toDatetime(fromDatetime(rows[0]?.[2] ?? "") + CLOCK);
  return rows.map((row) => row.map((text, nth) => (nth === 2 ? now : text)));
});

/** A `Read` whose statements go to the two nodes in turn. A transaction stays on one of them. */
function alternating(): Read {
  let sent = 0;
  const inTurn = (nodes: readonly [Session, Session]): Session => {
    let pinned: Session | undefined;
    const next = () => pinned ?? (nodes[sent++ % 2] as Session);
    return {
      query: (...statement) => next().query(...statement),
      transaction: (inside) => {
        pinned = next();
        return pinned.transaction(inside);
      },
    };
  };
  const ofPrimary = createRead(primary);
  return (work, options) =>
    ofPrimary((one) => ofReplica((other) => work(inTurn([one, other])), options), options);
}

it("answers are never torn, and never refused", async () => {
  const server = { provider_id: 1, name: "server", status: "Active", price_per_hour: "1.00" };
  for (const node of [primary, replica.knex]) {
    await node("servers").insert([1, 2, 3].map((id) => ({ ...server, id, uuid: `${id}` })));
  }
  const waiting: Change[] = [];
  const copyLater = async (change: Change) => {
    waiting.push(change);
    if (waiting.length > BEHIND) await waiting.shift()?.(replica.knex);
  };
  let added = 0;
  const add = async () => {
    const change = addNth(++added);
    await change(primary);
    await copyLater(change);
  };
  for (let nth = 0; nth < 100; nth++) await add();

  const service = createRevenueService(alternating());
  const call = { caller: { providerId: "1" }, signal: new AbortController().signal };
  const period = { startDate: "2000-01-01", endDate: "", timeZone: "" };
  let answers = 0;
  const ask = async () => {
    for (; answers < ANSWERS; answers++) {
      // One may be under way to each node.
      const least = added - BEHIND - 2;
      const breakdown = await service.getServerBreakdown(
        { $typeName: "revenue.v1.GetServerBreakdownRequest", ...period },
        call,
      );
      const { totalRevenue, totalRentals: rentals } = breakdown.message;
      expect(Number(totalRevenue?.value), `${rentals} of ${added}`).toBe(sumUpTo(rentals));
      expect(rentals).toBeGreaterThanOrEqual(least);
      const overview = await service.getOverview(
        { $typeName: "revenue.v1.GetOverviewRequest" },
        call,
      );
      const gross = overview.message.serverRevenue.map((each) => Number(each.grossRevenue?.value));
      const sum = gross.reduce((all, each) => all + each, 0);
      expect(sum, "dollars up to some").toBe(sumUpTo(Math.floor(Math.sqrt(2 * sum))));
    }
  };
  const write = async () => {
    while (answers < ANSWERS) {
      await add();
      await rollUp(primary, { margin: 0 });
      await copyLater(await copyOfRollups());
    }
  };
  await Promise.all([write(), ask(), ask()]);
});

/** The dollars of the first charges. */
const sumUpTo = (count: number) => (count * (count + 1)) / 2;
