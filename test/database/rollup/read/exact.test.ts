/** With a rollup of any age the figures are the same as without one. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { END } from "../../../../src/rollup/timeline.ts";
import { beginBuild, buildSegment } from "../../../../src/rollup/write/build.ts";
import { refresh } from "../../../../src/rollup/write/refresh.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { anySituation } from "../../../support/ledger/any-situation.ts";
import { breakdownOf, overviewOf } from "../../../support/ledger/ask.ts";
import { expectedBreakdown } from "../../../support/ledger/breakdown-oracle.ts";
import { shift } from "../../../support/ledger/instants.ts";
import { expectedOverview } from "../../../support/ledger/overview-oracle.ts";
import { meantAt } from "../../../support/ledger/periods.ts";
import { storeLedgers } from "../../../support/ledger/store.ts";
import { recorded } from "../../../support/statements.ts";

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

async function buildAll(provider: string, watermark: string, size: number): Promise<void> {
  const build = await beginBuild(database.knex, provider, watermark);
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

it("whatever was recorded before and after its watermark, however often it was moved, and whatever is remembered", async () => {
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
          await refresh(database.knex, String(provider), recordedAt(until), rollup.size);
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
