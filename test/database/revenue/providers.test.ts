/**
 * All providers in pages: each once, by ascending number, with what its own key reads, whatever is written between
 * the pages.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { toDatetime } from "../../../src/db/datetime.ts";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { TABLES } from "../../../src/rollup/coverage.ts";
import { rollUp } from "../../../src/rollup/write/run.ts";
import { breakdownOf, dailyOf, payoutsOf, providersOf } from "../../support/ledger/call.ts";
import { addBulk } from "../../support/rollup/bulk.ts";
import { databaseOfFile, deleteRows, LEDGER } from "../file-database.ts";
import { build } from "../rollup/write/built.ts";

const database = await databaseOfFile();
const { knex } = database;
const damaged: string[] = [];
const service = createRevenueService(createRead(knex), {
  reportDamage: (provider) => damaged.push(provider),
});

type Amount = { readonly value: string };
/** A row, as protobuf JSON. */
type Row = Readonly<Record<"providerId" | "name" | "dataAsOf", string>> &
  Readonly<Record<"grossRevenue" | "refunds" | "platformFees" | "earnings", Amount>> &
  Readonly<Record<"rentedHours" | "completedPayouts" | "otherPayouts", Amount>> & {
    readonly charges: number;
    readonly availableBalance: Amount;
  };
interface Page {
  readonly providers: readonly Row[];
  readonly nextPageToken: string;
  readonly startDate: string;
  readonly endDate: string;
}
type Request = Parameters<typeof providersOf>[1];

async function pageOf(request: Request): Promise<Page> {
  const response = await providersOf(service, request);
  expect(response).toBeTypeOf("object");
  return response as unknown as Page;
}

/** All pages. `between` is run before each but the first. */
async function pagesOf(request: Request, between: (page: Page) => unknown = () => {}) {
  const pages = [await pageOf(request)];
  for (let page = pages[0]; page?.nextPageToken; page = pages.at(-1)) {
    await between(page);
    pages.push(await pageOf({ ...request, pageToken: page.nextPageToken }));
  }
  return pages;
}

const idsOf = (pages: readonly Page[]) =>
  pages.map(({ providers }) => providers.map(({ providerId }) => providerId));

/** What the keys of a provider read of the period of a page. */
async function ownFigures(provider: string, { startDate, endDate }: Page) {
  const call = [service, BigInt(provider), new Date().toISOString(), startDate, endDate] as const;
  const breakdown = (await breakdownOf(...call)) as Record<string, unknown>;
  const days = (await dailyOf(...call)) as Record<string, unknown>;
  const period = { startDate, endDate, pageSize: 1_000 };
  const { payouts } = (await payoutsOf(service, BigInt(provider), period)) as unknown as {
    payouts: { amount: Amount; status: string }[];
  };
  const paid = (completed: boolean) =>
    cents(
      payouts
        .filter(({ status }) => (status === "Completed") === completed)
        .map((one) => one.amount),
    );
  const wallet = await knex("wallets").where({ provider_id: provider }).first("available_balance");
  const { refunds, platformFees, earnings, rentedHours, totalRevenue } = breakdown;
  expect(days).toMatchObject({ grossRevenue: totalRevenue, refunds, platformFees, earnings });
  return {
    ...{ refunds, platformFees, earnings, rentedHours },
    grossRevenue: totalRevenue,
    charges: days.charges,
    completedPayouts: paid(true),
    otherPayouts: paid(false),
    availableBalance: { value: wallet?.available_balance ?? "0.00" },
  };
}

/** The sum of amounts. */
function cents(amounts: readonly Amount[]): Amount {
  const sum = amounts.reduce((sum, { value }) => sum + BigInt(value.replace(".", "")), 0n);
  const digits = String(sum < 0n ? -sum : sum).padStart(3, "0");
  return { value: `${sum < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}` };
}

describe("the providers", () => {
  beforeEach(() => deleteRows(knex, ["providers"]));
  const add = (ids: readonly bigint[]) =>
    ids.length > 0 &&
    knex("providers").insert(ids.map((id) => ({ id: String(id), name: `n${id}` })));

  it("are none on one empty page, which has its period", async () => {
    const page = await pageOf({});
    expect(page).toMatchObject({ providers: [], nextPageToken: "" });
    expect(Date.parse(page.endDate) - Date.parse(page.startDate)).toBe(30 * 86_400_000);
  });

  it.each([
    [0, 201, [100, 100, 1]],
    [2, 4, [2, 2]],
    [3, 4, [3, 1]],
    [2 ** 31 - 1, 1_001, [1_000, 1]],
  ])("with a page size of %i, %i come as %j", async (pageSize, count, expected) => {
    const ids = Array.from({ length: count }, (_, nth) => BigInt(nth + 1));
    await add(ids);
    const pages = idsOf(await pagesOf({ pageSize }));
    expect(pages.map(({ length }) => length)).toEqual(expected);
    expect(pages.flat()).toEqual(ids.map(String));
  });

  it("come by ascending number, also beyond those that a double can hold, with their names", async () => {
    const ids = [1n, 9n, 10n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n];
    await add(ids.toReversed());
    const pages = await pagesOf({ pageSize: 2 });
    expect(idsOf(pages).flat()).toEqual(ids.map(String));
    expect(pages.flatMap(({ providers }) => providers.map(({ name }) => name))).toEqual(
      ids.map((id) => `n${id}`),
    );
  });

  it("that are added or removed between pages shift none of the others", async () => {
    await add([2n, 4n, 6n, 8n, 10n]);
    const pages = await pagesOf({ pageSize: 2 }, async ({ providers }) => {
      if (providers.some(({ providerId }) => providerId === "4")) {
        await add([1n, 3n, 5n]);
        await knex("providers").where({ id: 4 }).del();
      }
    });
    expect(idsOf(pages).flat()).toEqual(["2", "4", "5", "6", "8", "10"]);
  });

  it("have a token that is refused with other parameters, or changed", async () => {
    await add([1n, 2n, 3n]);
    const request = { startDate: "2020-01-01", timeZone: "Asia/Kolkata", pageSize: 1 };
    const { nextPageToken: pageToken } = await pageOf(request);
    expect(idsOf([await pageOf({ ...request, pageSize: 5, pageToken })])).toEqual([["2", "3"]]);
    for (const changed of [
      { startDate: "2020-01-02" },
      { endDate: "2030-01-01" },
      { timeZone: "Europe/Berlin" },
    ]) {
      expect(await providersOf(service, { ...request, ...changed, pageToken })).toMatch(
        /^pageToken: expected the nextPageToken of a response to the same startDate, endDate and timeZone, got .* was another one\)$/,
      );
    }
    expect(await providersOf(service, { ...request, pageToken: `${pageToken}x` })).toMatch(
      /it was changed, is of another version, or belongs/,
    );
  });

  it("refuse a negative page size, with the default of this list", async () => {
    expect(await providersOf(service, { pageSize: -1 })).toBe(
      "pageSize: expected 0 (the default, 100) or more, got -1",
    );
  });
});

describe("each row", () => {
  /** Of these, the first three get rollups of several ages. */
  const BULKS = [1, 2, 3, 4, 5, 6].map((provider) => ({
    provider,
    servers: 3,
    instances: 5,
    charges: 700 * (provider % 4),
    rentals: 60 * (provider % 3),
    days: 90,
  }));
  const ago = (days: number, ms = 0) => toDatetime(Date.now() - days * 86_400_000 + ms);

  beforeAll(async () => {
    await deleteRows(knex, ["providers"]);
    await addBulk(knex, BULKS);
    await knex("providers").insert({ id: 99, name: "nothing" });
    const statuses = ["Completed", "completed", "Pending", ""];
    await knex("payouts").insert(
      BULKS.flatMap(({ provider }) =>
        Array.from({ length: 12 * (provider % 2) }, (_, nth) => ({
          provider_id: provider,
          public_id: `${provider} ${nth}`,
          paid_at: ago(7 * nth - 3),
          amount: `${nth}.0${nth % 10}`,
          method: "",
          status: statuses[nth % statuses.length],
        })),
      ),
    );
    await knex("charges").insert(
      [1, 2, 6].map((provider) => ({
        provider_id: provider,
        server_id: provider * 1_000 + 1,
        charged_at: ago(10),
        gross: "-3.05",
      })),
    );
  });
  afterAll(() => deleteRows(knex, ["providers", "wallets", "payouts", ...LEDGER]));
  beforeEach(() => damaged.splice(0));

  const rollUpSome = async () => {
    await build(knex, "1", ago(0, -3_600_000));
    await build(knex, "2", ago(40), "PT1H");
    await build(knex, "3", ago(20), "P1M");
  };

  const PERIODS: readonly (readonly [string, Request])[] = [
    ["the default period", {}],
    ["days of the past", { startDate: ago(80).slice(0, 10), endDate: ago(5).slice(0, 10) }],
    [
      "a part of a day",
      { startDate: `${ago(30).slice(0, 10)}T09:00:00Z`, endDate: ago(29).slice(0, 10) },
    ],
    ["all of time", { startDate: "0001-01-01", endDate: "9999-12-31" }],
    ["a period after now", { startDate: "9999-01-01", endDate: "9999-12-31" }],
    ["days of another zone", { startDate: ago(33).slice(0, 10), timeZone: "Asia/Kathmandu" }],
  ];

  describe.each([
    ["without rollups", () => deleteRows(knex, Object.values(TABLES))],
    ["with some rollups", rollUpSome],
  ])("%s", (_, prepare) => {
    beforeAll(async () => {
      await prepare();
    });

    it.each(PERIODS)("of %s is what the provider's own key reads", async (name, request) => {
      const pages = await pagesOf({ ...request, pageSize: 3 });
      const rows = pages.flatMap(({ providers }) => providers);
      expect(rows).toHaveLength(BULKS.length + 1);
      const isLong = name === "all of time";
      for (const row of rows) {
        const { startDate, endDate } = pages[0] as Page;
        // Days take no period of that length: from before the first charge on, its rows are the same.
        const start = isLong ? new Date(Date.now() - 390 * 86_400_000).toISOString() : startDate;
        const own = await ownFigures(row.providerId, {
          ...(pages[0] as Page),
          startDate: start,
          endDate,
        });
        expect(row, row.providerId).toMatchObject(own);
      }
      expect(new Set(pages.map(({ startDate, endDate }) => startDate + endDate)).size).toBe(1);
      expect(damaged).toEqual([]);
    });

    it("adds up with the others to the ledger", async () => {
      const pages = await pagesOf({ startDate: "0001-01-01", pageSize: 2 });
      const rows = pages.flatMap(({ providers }) => providers);
      const [[sums]] = await knex.raw(
        `SELECT CAST(SUM(gross) AS CHAR) AS gross, CAST(COUNT(*) AS CHAR) AS charges,
                CAST(SUM(LEAST(gross, 0)) AS CHAR) AS refunds
         FROM charges WHERE charged_at <= ?`,
        [toDatetime(Date.parse(pages[0]?.endDate ?? ""))],
      );
      expect({
        gross: cents(rows.map(({ grossRevenue }) => grossRevenue)).value,
        charges: String(rows.reduce((sum, { charges }) => sum + charges, 0)),
        refunds: cents(rows.map(({ refunds }) => refunds)).value,
      }).toEqual(sums);
      expect(Number(sums.charges)).toBeGreaterThan(5_000);
    });
  });

  it("is exact at its own instant, whatever is written and rolled up between the pages", async () => {
    await rollUpSome();
    const first = await pageOf({ startDate: "2020-01-01", pageSize: 1 });
    let written = 0;
    const pages = await pagesOf({ startDate: "2020-01-01", pageSize: 1 }, async (page) => {
      written++;
      // One within the period of the first page, one after it.
      const at = Date.parse(page.endDate);
      await knex("charges").insert(
        BULKS.flatMap(({ provider }) =>
          [at, at + 1].map((ms) => ({
            provider_id: provider,
            server_id: provider * 1_000 + 1,
            charged_at: toDatetime(ms),
            gross: "1.00",
          })),
        ),
      );
      await rollUp(knex, { margin: 0 });
    });
    expect(written).toBe(BULKS.length);
    const rows = pages.flatMap(({ providers }) => providers);
    const asOf = rows.map(({ dataAsOf }) => dataAsOf);
    expect(asOf).toEqual(asOf.toSorted());
    for (const [nth, row] of rows.entries()) {
      if (row.providerId === "99") continue;
      const before = Number((await knexCount(row.providerId, pages[0] as Page)) - (written - nth));
      expect(row.charges, row.providerId).toBe(before);
    }
    expect(first.providers[0]?.charges).toBe(rows[0]?.charges);
  });

  /** The charges of a provider in the period of a page, by now. */
  const knexCount = async (provider: string, { startDate, endDate }: Page) => {
    const [row] = await knex("charges")
      .where({ provider_id: provider })
      .whereBetween(
        "charged_at",
        [startDate, endDate].map((at) => toDatetime(Date.parse(at))) as [string, string],
      )
      .count({ count: "*" });
    return Number(row?.count);
  };

  it("is read from the ledger where the rollup contradicts itself, as a breakdown is", async () => {
    await rollUpSome();
    await knex(TABLES.sums).where({ provider_id: 1, total: 1 }).increment("gross", 1);
    const page = await pageOf({ startDate: ago(60).slice(0, 10) });
    expect(new Set(damaged)).toEqual(new Set(["1"]));
    for (const row of page.providers) {
      expect(row).toMatchObject(await ownFigures(row.providerId, page));
    }
  });
});
