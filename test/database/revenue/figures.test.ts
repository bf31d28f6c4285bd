/** The heart: whatever the ledger, every figure is what one gets by summing it by hand. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService, type RevenueFunctions } from "../../../src/revenue/service.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { anySituation } from "../../support/ledger/any-situation.ts";
import { breakdownOf, overviewOf } from "../../support/ledger/ask.ts";
import { expectedBreakdown } from "../../support/ledger/breakdown-oracle.ts";
import { emptyLedger, type Ledger } from "../../support/ledger/ledger.ts";
import { expectedOverview } from "../../support/ledger/overview-oracle.ts";
import { storeLedgers } from "../../support/ledger/store.ts";

/** A provider that has nothing. */
const NEWCOMER = 2n ** 53n;
/** A provider with 200 charges of the most that a charge can be, and a nickel. */
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

describe("sums beyond what a binary floating-point number holds", () => {
  it("are exact to the cent", async () => {
    const now = "2026-11-20T09:30:00.123Z";
    const [server] = LARGEST.servers;
    await storeLedgers(database.knex, [LARGEST]);
    expect(await overviewOf(service, LARGEST.provider, now)).toEqual(
      expectedOverview(LARGEST, now),
    );
    expect(await overviewOf(service, LARGEST.provider, now)).toMatchObject({
      summary: { grossRevenueYTD: { value: "199999999999998.05" } }, // 2^53 cents are 90 trillion
      serverRevenue: [{ serverId: server?.uuid, totalHours: { value: "1999999999999980500.00" } }],
    });
    expect(
      await breakdownOf(service, LARGEST.provider, now, "2026-11-20", "2026-11-20"),
    ).toMatchObject({ totalRevenue: { value: "199999999999998.05" } });
  });
});

describe("whatever the ledger, and whenever it is asked", () => {
  it("every figure of every provider is the sum of what is its own, and nothing else", async () => {
    await fc.assert(
      fc.asyncProperty(anySituation, async ({ now, periods, ledgers }) => {
        const all = [...ledgers, emptyLedger(NEWCOMER)];
        await storeLedgers(database.knex, all);
        await Promise.all(
          all.map(async (ledger) => {
            const overview = await overviewOf(service, ledger.provider, now);
            expect(overview).toEqual(expectedOverview(ledger, now));
            for (const { startDate, endDate, means } of periods) {
              const breakdown = await breakdownOf(
                service,
                ledger.provider,
                now,
                startDate,
                endDate,
              );
              expect(breakdown).toEqual(expectedBreakdown(ledger, means, now));
            }
          }),
        );
      }),
      { numRuns: 300 },
    );
  }, 120_000);
});
