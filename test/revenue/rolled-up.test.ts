/** With a rollup of any age the figures are the same as without one. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRead } from "../../src/database/read.ts";
import { advance } from "../../src/database/rollup/advance.ts";
import { beginBuild, buildSegment } from "../../src/database/rollup/build.ts";
import { END } from "../../src/database/rollup/timeline.ts";
import { verify } from "../../src/database/rollup/verify.ts";
import { createRevenueService } from "../../src/revenue/service.ts";
import { createDatabase, type TestDatabase } from "../setup/database.ts";
import { anySituation } from "./ledger/any-situation.ts";
import { breakdownOf, overviewOf } from "./ledger/ask.ts";
import { expectedBreakdown } from "./ledger/breakdown-oracle.ts";
import { shift } from "./ledger/instants.ts";
import { expectedOverview } from "./ledger/overview-oracle.ts";
import { meantAt } from "./ledger/periods.ts";
import { storeLedgers } from "./ledger/store.ts";
import { recorded } from "./statements.ts";

/** Seven recordings, a minute apart; charges and rentals were recorded at one of them each. */
const RECORDINGS = 7;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** `minute` 0 to 6 of the recordings. */
const recordedAt = (minute: number) => `2026-01-01 00:0${minute}:00.000`;

async function spreadRecordings(): Promise<void> {
  for (const [table, column] of [
    ["charges", "recorded_at"],
    ["rentals", "updated_at"],
  ]) {
    await database.knex.raw(
      `UPDATE ${table} SET ${column} = TIMESTAMPADD(MINUTE, (id * 7919) % ${RECORDINGS}, '${recordedAt(0)}')`,
    );
  }
}

async function forgetRollups(): Promise<void> {
  for (const table of ["rollups", "rollup_checkpoints", "rollup_figures", "rollup_months"]) {
    await database.knex(table).del();
  }
}

async function buildAll(provider: string, cut: string, size: number): Promise<void> {
  const build = await beginBuild(database.knex, provider, cut);
  for (;;) {
    const step = await buildSegment(database.knex, build, size);
    if (step === undefined || step.at === END) return;
  }
}

const anyRollup = fc.record({
  size: fc.integer({ min: 1, max: 6 }),
  built: fc.integer({ min: 0, max: RECORDINGS - 1 }),
  advances: fc.array(fc.integer({ min: 0, max: RECORDINGS - 1 }), { maxLength: 3 }),
});

/** When everything is asked, in ms after `now`: again, a little later, and as of before once more. */
const LATER = [0, 0, 1, 1_000, 0];

it("whatever was recorded before and after its cut, however often it was moved, and whatever is remembered", async () => {
  let [asked, beside] = [0, 0];
  await fc.assert(
    fc.asyncProperty(anySituation, anyRollup, async ({ now, periods, ledgers }, rollup) => {
      await storeLedgers(database.knex, ledgers);
      await spreadRecordings();
      await forgetRollups();
      // Its own service: another run's rollups may have this one's states, but not its ledgers.
      const { read, taken } = recorded(createRead(database.knex));
      const service = createRevenueService(read);
      const askAt = (now: string) =>
        Promise.all(
          ledgers.map(async (ledger) => {
            const overview = await overviewOf(service, ledger.provider, now);
            expect(overview).toEqual(expectedOverview(ledger, now));
            for (const period of periods.flatMap((period) => meantAt(period, now) ?? [])) {
              const { startDate, endDate, means } = period;
              const answer = await breakdownOf(service, ledger.provider, now, startDate, endDate);
              expect(answer).toEqual(expectedBreakdown(ledger, means, now));
            }
          }),
        );
      const ask = async () => {
        for (const ms of LATER) await askAt(shift(now, ms));
      };
      await ask();
      for (const { provider } of ledgers) {
        await buildAll(String(provider), recordedAt(rollup.built), rollup.size);
      }
      await ask();
      for (const until of rollup.advances) {
        for (const { provider } of ledgers) {
          await advance(database.knex, String(provider), recordedAt(until), rollup.size);
        }
        await ask();
      }
      for (const { provider } of ledgers) {
        expect(await Array.fromAsync(verify(database.knex, String(provider)))).toEqual([]);
      }
      const statements = taken();
      asked += statements.length;
      beside += statements.filter((name) => name.endsWith("BesideRollup")).length;
    }),
    { numRuns: 60 },
  );
  expect(beside / asked).toBeGreaterThan(0.5);
}, 240_000);
