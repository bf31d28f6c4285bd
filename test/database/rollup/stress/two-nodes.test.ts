/**
 * Behind a proxy that sends each statement to another node, of which one is behind, while rollup runs change what
 * both have: each answer is that of one node, and none is refused.
 */
import { create } from "@bufbuild/protobuf";
import type { Knex } from "knex";
import { afterAll, expect, it } from "vitest";
import {
  GetOverviewRequestSchema,
  GetServerBreakdownRequestSchema,
} from "../../../../gen/revenue/v1/revenue_pb.ts";
import { fromDatetime, toDatetime } from "../../../../src/db/datetime.ts";
import { createRead, type Query, type Read, type Session } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { factsStatement } from "../../../../src/rollup/read/facts.ts";
import { createDatabase } from "../../../support/database.ts";
import { rollUp } from "../../../support/rollup/roll-up.ts";
import { SOAK } from "../../../support/soak.ts";
import { databaseOfFile, ROLLUPS } from "../../file-database.ts";

const ANSWERS = 200 * SOAK;
/** How many changes the second node is behind. */
const BEHIND = 3;
/** How far its clock is, in ms. */
const CLOCK = -2_000;

const { knex: primary } = await databaseOfFile();
const replica = await createDatabase();
afterAll(() => replica.drop());

/** A change of one node. */
type Change = (node: Knex) => Promise<unknown>;

/** A change adds a rental and a charge of as many dollars as there are rentals then. */
function addNth(nth: number): Change {
  const recorded = toDatetime(Date.now());
  const [provider_id, server_id] = [1, (nth % 3) + 1];
  const dated = toDatetime(Date.now() - (nth % 50) * 86_400_000 - 60_000);
  const charge = { provider_id, server_id, charged_at: dated, recorded_at: recorded, gross: nth };
  const ended = toDatetime(fromDatetime(dated) + 1_000);
  const rental = {
    provider_id,
    server_id,
    started_at: dated,
    ended_at: ended,
    updated_at: recorded,
  };
  return (node) =>
    node.transaction(async (transaction) => {
      await transaction("charges").insert(charge);
      await transaction("rentals").insert(rental);
    });
}

/** What a run has made of the rollups of the first node, for the second one. */
async function copyOfRollups(): Promise<Change> {
  const tables = await primary.transaction(async (reader) => {
    const rows: [string, object[]][] = [];
    for (const table of ROLLUPS) rows.push([table, await reader(table)]);
    return rows;
  });
  return (node) =>
    node.transaction(async (transaction) => {
      for (const [table, rows] of tables) {
        await transaction(table).del();
        await transaction.batchInsert(table, rows, 500);
      }
    });
}

/** A `Read` whose statements go to the two nodes in turn. A transaction stays on one of them. */
function alternating(): Read {
  const [one, other] = [createRead(primary), createRead(replica.knex)];
  let sent = 0;
  return (work, options) =>
    one(
      (first) =>
        other((second) => {
          const onReplica: Query = async (sql, ...rest) => {
            const rows = await second.query(sql, ...rest);
            if (sql !== factsStatement.sql) return rows;
            const now = toDatetime(fromDatetime(rows[0]?.[2] ?? "") + CLOCK);
            return rows.map((row) => row.map((text, nth) => (nth === 2 ? now : text)));
          };
          const nodes = [
            { query: first.query, transaction: first.transaction },
            { query: onReplica, transaction: second.transaction },
          ] as const;
          let pinned: Session | undefined;
          const next = () => pinned ?? (nodes[sent++ % 2] as Session);
          return work({
            query: (...statement) => next().query(...statement),
            transaction: (inside) => {
              pinned = next();
              return pinned.transaction(inside);
            },
          });
        }, options),
      options,
    );
}

it("answers are never torn, and never refused", async () => {
  const server = { provider_id: 1, name: "server", status: "Active", price_per_hour: "1.00" };
  for (const node of [primary, replica.knex]) {
    await node("servers").insert([1, 2, 3].map((id) => ({ ...server, id, uuid: `${id}` })));
  }
  const waiting: Change[] = [];
  let added = 0;
  const change = async (make: () => Promise<Change>) => {
    waiting.push(await make());
    if (waiting.length > BEHIND) await waiting.shift()?.(replica.knex);
  };
  const add = () =>
    change(async () => {
      const made = addNth(++added);
      await made(primary);
      return made;
    });
  const run = () =>
    change(async () => {
      await rollUp(primary, { margin: 0 });
      return copyOfRollups();
    });
  for (let nth = 0; nth < 100; nth++) await add();

  const service = createRevenueService(alternating());
  const call = { caller: { providerId: "1" }, signal: new AbortController().signal };
  let answers = 0;
  const ask = async () => {
    for (; answers < ANSWERS; answers++) {
      const request = create(GetServerBreakdownRequestSchema, { startDate: "2000-01-01" });
      const { message } = await service.getServerBreakdown(request, call);
      const rentals = message.totalRentals;
      const expected = (rentals * (rentals + 1)) / 2;
      expect(message.totalRevenue?.value, `${rentals} of ${added}`).toBe(`${expected}.00`);
      expect(rentals).toBeGreaterThanOrEqual(added - BEHIND - 2);
      const overview = await service.getOverview(create(GetOverviewRequestSchema), call);
      const gross = overview.message.serverRevenue.map(({ grossRevenue }) =>
        Number(grossRevenue?.value),
      );
      const sum = gross.reduce((all, each) => all + each, 0);
      const count = (Math.sqrt(8 * sum + 1) - 1) / 2;
      expect(Number.isInteger(count), `${sum} is a sum of all dollars up to some`).toBe(true);
    }
  };
  const write = async () => {
    while (answers < ANSWERS) {
      await add();
      await run();
    }
  };
  await Promise.all([write(), ask(), ask()]);
});
