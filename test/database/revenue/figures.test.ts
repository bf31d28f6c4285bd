/** For random ledgers and periods, every figure equals the sum that the oracles compute from the rows. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService, type RevenueFunctions } from "../../../src/revenue/service.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { anySituation } from "../../support/ledger/any-situation.ts";
import { expectedBreakdown } from "../../support/ledger/breakdown-oracle.ts";
import { breakdownOf, overviewOf } from "../../support/ledger/call.ts";
import { emptyLedger, type Ledger } from "../../support/ledger/ledger.ts";
import { expectedOverview } from "../../support/ledger/overview-oracle.ts";
import { storeLedgers } from "../../support/ledger/store.ts";
import { SOAK } from "../../support/soak.ts";

/** A provider without rows. */
const EMPTY = 2n ** 53n;
/** A provider with 200 charges of the largest amount that the column holds, and one of 5 cents. */
const LARGEST: Ledger = {
  ...emptyLedger(1n),
  servers: [
    { id: 1n, uuid: "1", name: "", type: "", status: "Active", price: 1n, deletedAt: null },
  ],
  charges: [...Array(200).fill(10n ** 14n - 1n), 5n].map((gross: bigint) => ({
    server: 1n,
    instance: null,
    at: "2026-11-20T00:00:00.000Z",
    gross,
  })),
};

let database: TestDatabase;
let service: RevenueFunctions;
beforeAll(async () => {
  database = await createDatabase();
  service = createRevenueService(createRead(database.knex));
});
afterAll(() => database.drop());

describe("sums above 2^53 cents", () => {
  it("are exact to the cent", async () => {
    const now = "2026-11-20T09:30:00.123Z";
    const [server] = LARGEST.servers;
    await storeLedgers(database.knex, [LARGEST]);
    expect(await overviewOf(service, LARGEST.provider, now)).toEqual(
      expectedOverview(LARGEST, now),
    );
    expect(await overviewOf(service, LARGEST.provider, now)).toMatchObject({
      summary: { grossRevenueYTD: { value: "199999999999998.05" } },
      serverRevenue: [{ serverId: server?.uuid, totalHours: { value: "1999999999999980500.00" } }],
    });
    expect(
      await breakdownOf(service, LARGEST.provider, now, "2026-11-20", "2026-11-20"),
    ).toMatchObject({ totalRevenue: { value: "199999999999998.05" } });
  });
});

describe("for any ledgers, time of the request and period", () => {
  it(
    "every figure is the sum over the provider's own rows",
    async () => {
      await fc.assert(
        fc.asyncProperty(anySituation, async ({ now, periods, ledgers }) => {
          const all = [...ledgers, emptyLedger(EMPTY)];
          await storeLedgers(database.knex, all);
          await Promise.all(
            all.map(async (ledger) => {
              const overview = await overviewOf(service, ledger.provider, now);
              expect(overview).toEqual(expectedOverview(ledger, now));
              for (const { startDate, endDate, resolved } of periods) {
                const breakdown = await breakdownOf(
                  service,
                  ledger.provider,
                  now,
                  startDate,
                  endDate,
                );
                expect(breakdown).toEqual(expectedBreakdown(ledger, resolved, now));
              }
            }),
          );
        }),
        { numRuns: 100 * SOAK },
      );
    },
    120_000 * Math.max(1, SOAK),
  );
});
