/** Overviews of several providers, read by one statement: each has its own figures, and no others. */
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService, type RevenueFunctions } from "../../../src/revenue/service.ts";
import { refresh } from "../../../src/rollup/write/refresh.ts";
import { anyLedger } from "../../support/ledger/any-ledger.ts";
import { atTimeOfCall, overviewOf } from "../../support/ledger/call.ts";
import { anyNow, landmarks } from "../../support/ledger/instants.ts";
import type { Ledger } from "../../support/ledger/ledger.ts";
import { expectedOverview } from "../../support/ledger/overview-oracle.ts";
import { storeLedgers } from "../../support/ledger/store.ts";
import { SOAK } from "../../support/soak.ts";
import { recordStatements, type StatementName } from "../../support/statements.ts";
import { databaseOfFile, deleteRows, ROLLUPS } from "../file-database.ts";
import { build } from "../rollup/write/built.ts";

/** Some differ by less than a double can tell. */
const PROVIDERS = [
  ...[1n, 2n, 3n],
  ...[2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n],
  ...[2n ** 64n - 3n, 2n ** 64n - 2n, 2n ** 64n - 1n],
];
/** Half of them ask for a moment of a month before the others. */
const SHARED: readonly StatementName[] = [
  "uncoveredOverviews2",
  "uncoveredOverviews4",
  "uncoveredOverviews8",
];

interface Call {
  readonly ledger: Ledger;
  readonly now: string;
}

const database = await databaseOfFile();

/** A ledger that may share a statement. */
const small = (ledger: Ledger): Ledger => ({ ...ledger, charges: ledger.charges.slice(0, 10) });

const anyLedgers = anyNow.chain((now) =>
  fc.record({
    calls: fc.tuple(
      ...PROVIDERS.map((provider) =>
        fc.record({
          now: fc.constant(now),
          ledger: anyLedger(provider, landmarks(now)).map(small),
        }),
      ),
    ),
    /** Those with a rollup, and those whose rollup is newer than what the service has cached. */
    rolledUp: fc.subarray(PROVIDERS),
    refreshed: fc.subarray(PROVIDERS),
    order: fc.shuffledSubarray([...PROVIDERS.keys()], { minLength: PROVIDERS.length }),
  }),
);

/** Each asks for its overview at the same time. */
async function expectOwnFigures(service: RevenueFunctions, calls: readonly Call[]) {
  await Promise.all(
    calls.map(async ({ ledger, now }) => {
      expect(await overviewOf(service, ledger.provider, now)).toEqual(
        expectedOverview(ledger, now),
      );
    }),
  );
}

it(
  "every provider has the figures of its own rows, whoever else is in the statement",
  async () => {
    const ran = new Set<StatementName>();
    await fc.assert(
      fc.asyncProperty(anyLedgers, async ({ calls, rolledUp, refreshed, order }) => {
        const ledgers = calls.map(({ ledger }) => ledger);
        await storeLedgers(database.knex, ledgers);
        await deleteRows(database.knex, ROLLUPS);
        await database.knex.raw(
          "UPDATE charges SET recorded_at = TIMESTAMPADD(MINUTE, id % 5, '2026-01-01 00:00:00.000')",
        );
        for (const provider of rolledUp) {
          await build(database.knex, String(provider), "2026-01-01 00:02:00.000");
        }
        const { read, takeNames } = recordStatements(atTimeOfCall(createRead(database.knex)));
        const service = createRevenueService(read);
        const inOrder = order.map((index) => calls[index] as Call);
        // The first two run alone. The others share a statement for 8, for 2 and for 4.
        for (const callers of [10, 10, 4, 6]) {
          await expectOwnFigures(service, inOrder.slice(0, callers));
        }
        for (const provider of refreshed.filter((provider) => rolledUp.includes(provider))) {
          await refresh(database.knex, String(provider), "2026-01-01 00:04:00.000");
        }
        await expectOwnFigures(service, inOrder.toReversed());
        for (const name of takeNames()) ran.add(name);
      }),
      { numRuns: 5 * SOAK },
    );
    expect([...ran]).toEqual(expect.arrayContaining([...SHARED, "fullOverview"]));
  },
  60_000 * Math.max(1, SOAK),
);

describe("of ten small providers", () => {
  const NOW = "2026-11-20T09:30:00.000Z";
  const calls = PROVIDERS.map((provider, index): Call => {
    const server = {
      ...{ id: 1n, uuid: `server-${index}`, name: "", type: "", status: "Active" },
      ...{ price: 1n, deletedAt: null },
    };
    const charges = [{ server: 1n, instance: null, at: NOW, gross: BigInt(index) + 1n }];
    const rows = { balance: null, instances: [], rentals: [], payouts: [] };
    return { now: NOW, ledger: { provider, ...rows, servers: [server], charges } };
  });
  beforeAll(async () => {
    await storeLedgers(
      database.knex,
      calls.map(({ ledger }) => ledger),
    );
    await deleteRows(database.knex, ROLLUPS);
  });

  /** A service whose cache is filled, and the statements that ran since. */
  async function warmService() {
    const { read, takeNames } = recordStatements(atTimeOfCall(createRead(database.knex)));
    const service = createRevenueService(read);
    await expectOwnFigures(service, calls);
    takeNames();
    return { service, takeNames };
  }

  it("ten calls at once take three statements", async () => {
    const { service, takeNames } = await warmService();
    await expectOwnFigures(service, calls);
    expect(takeNames()).toEqual([
      ...["uncoveredOverview", "uncoveredOverview"],
      "uncoveredOverviews8",
    ]);
  });

  it("one with many rows is read alone from then on, until it has few again", async () => {
    const { service, takeNames } = await warmService();
    const many = Array.from({ length: 150 }, () => ({
      ...{ provider_id: 1, server_id: 1, gross: "1.00" },
      charged_at: "2026-11-20 00:00:00.000",
    }));
    await database.knex("charges").insert(many);
    const call = () =>
      Promise.all(calls.map(({ ledger }) => overviewOf(service, ledger.provider, NOW)));
    await call();
    takeNames();
    await call();
    // The large one, which is the first, at once; two more; the other seven.
    const alone = ["uncoveredOverview", "uncoveredOverview", "uncoveredOverview"];
    const expected = [...alone, "uncoveredOverviews4", "uncoveredOverviews2", "uncoveredOverview"];
    expect(takeNames().toSorted()).toEqual(expected.toSorted());
    await database.knex("charges").where({ provider_id: 1, gross: "1.00" }).del();
    await expectOwnFigures(service, calls);
    takeNames();
    await expectOwnFigures(service, calls);
    expect(takeNames()).toContain("uncoveredOverviews8");
  });
});
