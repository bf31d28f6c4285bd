/** Overviews of several providers, read by one statement: each has its own figures, and no others. */
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { createRead } from "../../../src/db/query.ts";
import { refresh } from "../../../src/rollup/write/refresh.ts";
import { anyLedger } from "../../support/ledger/any-ledger.ts";
import { createExactService, type ExactService } from "../../support/ledger/exact.ts";
import { anyNow, landmarks } from "../../support/ledger/instants.ts";
import { emptyLedger, type Ledger } from "../../support/ledger/ledger.ts";
import { storeLedgers } from "../../support/ledger/store.ts";
import { SOAK } from "../../support/soak.ts";
import type { StatementName } from "../../support/statements.ts";
import { databaseOfFile, deleteRows, ROLLUPS } from "../file-database.ts";
import { build } from "../rollup/write/built.ts";

/** Some differ by less than a double can tell. */
const PROVIDERS = [
  1n,
  2n,
  3n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 53n + 2n,
  2n ** 64n - 3n,
  2n ** 64n - 2n,
  2n ** 64n - 1n,
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

const createService = () => createExactService(createRead(database.knex));

/** Each asks for its overview at the same time. Resolves to the statements. */
async function expectOwnFigures(service: ExactService, calls: readonly Call[]) {
  const overviews = calls.map(({ ledger, now }) => service.overview(ledger, now));
  return (await Promise.all(overviews)).flat();
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
        const service = createService();
        const inOrder = order.map((index) => calls[index] as Call);
        // The first two run alone. The others share a statement for 8, for 2 and for 4.
        const expectThese = async (these: readonly Call[]) => {
          for (const name of await expectOwnFigures(service, these)) ran.add(name);
        };
        for (const callers of [10, 10, 4, 6]) await expectThese(inOrder.slice(0, callers));
        for (const provider of refreshed.filter((provider) => rolledUp.includes(provider))) {
          await refresh(database.knex, String(provider), "2026-01-01 00:04:00.000");
        }
        await expectThese(inOrder.toReversed());
      }),
      { numRuns: 5 * SOAK },
    );
    expect([...ran]).toEqual(expect.arrayContaining([...SHARED, "fullOverview"]));
  },
  180_000 * Math.max(1, SOAK),
);

describe("of ten small providers", () => {
  const NOW = "2026-11-20T09:30:00.000Z";
  const charge = (cents: number) => {
    return { server: 1n, instance: null, at: NOW, gross: BigInt(cents) };
  };
  const server = { id: 1n, name: "", type: "", status: "Active", price: 1n, deletedAt: null };
  const calls = PROVIDERS.map((provider, index): Call => {
    const servers = [{ ...server, uuid: `server-${index}` }];
    const ledger = { ...emptyLedger(provider), servers, charges: [charge(index + 1)] };
    return { now: NOW, ledger };
  });
  /** The same calls, the first with many rows. */
  const withLarge = calls.map(({ ledger, now }, nth): Call => {
    const charges =
      nth === 0 ? [...ledger.charges, ...Array(150).fill(charge(100))] : ledger.charges;
    return { now, ledger: { ...ledger, charges } };
  });
  const store = (stored: readonly Call[]) =>
    storeLedgers(
      database.knex,
      stored.map(({ ledger }) => ledger),
    );
  beforeAll(() => deleteRows(database.knex, ROLLUPS));

  it("ten calls at once take three statements; one with many rows is read alone, until it has few again", async () => {
    const service = createService();
    await store(calls);
    /** Again and again: for five seconds after a shared statement that took long, each is read alone. */
    const eventually = (asked: readonly Call[]) =>
      expect.poll(async () => (await expectOwnFigures(service, asked)).toSorted());
    const alone = ["uncoveredOverview", "uncoveredOverview"];
    const small = [...alone, "uncoveredOverviews8"];
    await eventually(calls).toEqual(small);
    await store(withLarge);
    // The large one, which is the first, at once; two more; the other seven.
    await eventually(withLarge).toEqual([
      ...alone,
      "uncoveredOverview",
      "uncoveredOverview",
      "uncoveredOverviews2",
      "uncoveredOverviews4",
    ]);
    await store(calls);
    await eventually(calls).toEqual(small);
  });
});
