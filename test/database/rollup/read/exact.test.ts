/** Responses with a rollup of any age, compared with the sums of random ledgers. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRead } from "../../../../src/db/query.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { TABLES } from "../../../../src/rollup/tables.ts";
import { refresh } from "../../../../src/rollup/write/refresh.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { anySituation } from "../../../support/ledger/any-situation.ts";
import { expectedBreakdown } from "../../../support/ledger/breakdown-oracle.ts";
import { breakdownOf, overviewOf } from "../../../support/ledger/call.ts";
import { shift } from "../../../support/ledger/instants.ts";
import type { Ledger } from "../../../support/ledger/ledger.ts";
import { expectedOverview } from "../../../support/ledger/overview-oracle.ts";
import { resolvedAt } from "../../../support/ledger/periods.ts";
import { storeLedgers } from "../../../support/ledger/store.ts";
import { SOAK } from "../../../support/soak.ts";
import { recordStatements } from "../../../support/statements.ts";
import { build } from "../write/built.ts";

/** Charges and rentals were recorded in one of seven minutes. */
const RECORDINGS = 7;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** The recording time of a minute from 0 to 6. */
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

const anyMinute = fc.integer({ min: 0, max: RECORDINGS - 1 });
/** The watermarks of a build and of the refreshes after it, and the segment size. */
const anyRollup = fc.record({
  size: fc.integer({ min: 1, max: 6 }),
  built: anyMinute,
  refreshed: fc.array(anyMinute, { maxLength: 3 }),
});

/** When every call is made, in ms after `now`: twice, a little later, and at `now` once more. */
const DELAYS = [0, 0, 1, 1_000, 0];

it(
  "responses are exact for any ledger, any rollup of it, and any cached totals",
  async () => {
    let [statements, uncovered] = [0, 0];
    await fc.assert(
      fc.asyncProperty(anySituation, anyRollup, async ({ now, periods, ledgers }, rollup) => {
        await storeLedgers(database.knex, ledgers);
        await spreadRecordings();
        for (const table of Object.values(TABLES)) await database.knex(table).del();
        // A new service: the rollups of another run may have the same states, but other totals.
        const { read, takeNames } = recordStatements(createRead(database.knex));
        const service = createRevenueService(read);
        const compareAt = async (ledger: Ledger, now: string) => {
          const overview = await overviewOf(service, ledger.provider, now);
          expect(overview).toEqual(expectedOverview(ledger, now));
          for (const period of periods.flatMap((period) => resolvedAt(period, now) ?? [])) {
            const { startDate, endDate, resolved } = period;
            const response = await breakdownOf(service, ledger.provider, now, startDate, endDate);
            expect(response).toEqual(expectedBreakdown(ledger, resolved, now));
          }
        };
        const compare = async () => {
          for (const ms of DELAYS) {
            await Promise.all(ledgers.map((ledger) => compareAt(ledger, shift(now, ms))));
          }
        };
        const providers = ledgers.map(({ provider }) => String(provider));
        await compare();
        for (const provider of providers) {
          await build(database.knex, provider, recordedAt(rollup.built), rollup.size);
        }
        await compare();
        for (const until of rollup.refreshed) {
          for (const provider of providers) {
            await refresh(database.knex, [{ provider, size: rollup.size }], recordedAt(until));
          }
          await compare();
        }
        for (const provider of providers) {
          expect(await Array.fromAsync(verify(database.knex, provider))).toEqual([]);
        }
        const names = takeNames();
        statements += names.length;
        uncovered += names.filter((name) => name.startsWith("uncovered")).length;
      }),
      { numRuns: 10 * SOAK },
    );
    expect(uncovered / statements).toBeGreaterThan(0.5); // cached totals were used
  },
  60_000 * Math.max(1, SOAK),
);
