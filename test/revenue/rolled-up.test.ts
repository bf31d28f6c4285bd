/** With a rollup of any age the figures are the same as without one. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRead } from "../../src/database/read.ts";
import { advance } from "../../src/database/rollup/advance.ts";
import { beginBuild, buildSegment } from "../../src/database/rollup/build.ts";
import { END } from "../../src/database/rollup/timeline.ts";
import { verify } from "../../src/database/rollup/verify.ts";
import { createRevenueService, type RevenueFunctions } from "../../src/revenue/service.ts";
import { createDatabase, type TestDatabase } from "../setup/database.ts";
import { anySituation } from "./ledger/any-situation.ts";
import { breakdownOf, overviewOf } from "./ledger/ask.ts";
import { expectedBreakdown } from "./ledger/breakdown-oracle.ts";
import { expectedOverview } from "./ledger/overview-oracle.ts";
import { storeLedgers } from "./ledger/store.ts";

/** Seven recordings, a minute apart; charges and rentals were recorded at one of them each. */
const RECORDINGS = 7;

let database: TestDatabase;
let service: RevenueFunctions;
beforeAll(async () => {
  database = await createDatabase();
  service = createRevenueService(createRead(database.knex));
});
afterAll(() => database.drop());

/** `minute` 0 to 6 of the recordings. */
const recorded = (minute: number) => `2026-01-01 00:0${minute}:00.000`;

async function spreadRecordings(): Promise<void> {
  for (const [table, column] of [
    ["charges", "recorded_at"],
    ["rentals", "updated_at"],
  ]) {
    await database.knex.raw(
      `UPDATE ${table} SET ${column} = TIMESTAMPADD(MINUTE, (id * 7919) % ${RECORDINGS}, '${recorded(0)}')`,
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

it("whatever was recorded before and after its cut, and however often it was moved", async () => {
  await fc.assert(
    fc.asyncProperty(anySituation, anyRollup, async ({ now, periods, ledgers }, rollup) => {
      await storeLedgers(database.knex, ledgers);
      await spreadRecordings();
      await forgetRollups();
      const ask = () =>
        Promise.all(
          ledgers.map(async (ledger) => {
            const overview = await overviewOf(service, ledger.provider, now);
            expect(overview).toEqual(expectedOverview(ledger, now));
            for (const { startDate, endDate, means } of periods) {
              const answer = await breakdownOf(service, ledger.provider, now, startDate, endDate);
              expect(answer).toEqual(expectedBreakdown(ledger, means, now));
            }
          }),
        );
      for (const { provider } of ledgers) {
        await buildAll(String(provider), recorded(rollup.built), rollup.size);
      }
      await ask();
      for (const until of rollup.advances) {
        for (const { provider } of ledgers) {
          await advance(database.knex, String(provider), recorded(until), rollup.size);
        }
        await ask();
      }
      for (const { provider } of ledgers) {
        expect(await Array.fromAsync(verify(database.knex, String(provider)))).toEqual([]);
      }
    }),
    { numRuns: 60 },
  );
}, 240_000);
