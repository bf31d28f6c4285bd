/** The row of each provider in a page of all: exact at its own instant, and read from the ledger where a rollup is damaged. */
import { beforeEach, expect, it } from "vitest";
import { toDatetime } from "../../../src/db/datetime.ts";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { TABLES } from "../../../src/rollup/coverage.ts";
import { providersOf } from "../../support/ledger/call.ts";
import { databaseOfFile, LEDGER } from "../file-database.ts";
import { build, refreshTo } from "../rollup/write/built.ts";

const { knex } = await databaseOfFile(["providers", ...LEDGER]);
const damaged: string[] = [];
const service = createRevenueService(createRead(knex), {
  reportDamage: (provider) => damaged.push(provider),
});

type Row = Record<"providerId" | "dataAsOf", string> & {
  readonly charges: number;
  readonly grossRevenue: { readonly value: string };
};
type Page = { readonly providers: readonly Row[] } & Record<"nextPageToken" | "endDate", string>;
const pageOf = async (request: object) =>
  (await providersOf(service, { startDate: "2020-01-01", ...request })) as unknown as Page;

const IDS = [1, 2, 3];
/** Adds a charge of each provider, of which the second and the third have a rollup. */
const charge = (at: number, gross = "1.00") =>
  knex("charges").insert(
    IDS.map((provider_id) => ({ provider_id, server_id: 1, charged_at: toDatetime(at), gross })),
  );
const hoursAgo = (hours: number) => Date.now() - hours * 3_600_000;

beforeEach(async () => {
  damaged.splice(0);
  await knex("providers").insert(IDS.map((id) => ({ id, name: `n${id}` })));
  for (const hours of [500, 50, 5]) await charge(hoursAgo(hours), "10.00");
  await knex("charges").update({ recorded_at: knex.ref("charged_at") });
  for (const id of ["2", "3"]) await build(knex, id, toDatetime(hoursAgo(20)));
});

it("is exact at its own instant, whatever is written and rolled up between the pages", async () => {
  const rows: Row[] = [];
  let [pageToken, endDate] = ["", ""];
  for (let written = 0; written === 0 || pageToken !== ""; written++) {
    const page = await pageOf({ pageSize: 1, pageToken });
    rows.push(...page.providers);
    ({ nextPageToken: pageToken, endDate } = page);
    expect(page.providers).toMatchObject([
      { charges: 3 + written, grossRevenue: { value: `${30 + written}.00` } },
    ]);
    // One within the period, which the first page has fixed, and one after it.
    for (const ms of [0, 1]) await charge(Date.parse(endDate) + ms);
    await refreshTo(knex, "3", toDatetime(Date.now() - 1));
  }
  expect(rows.map(({ providerId }) => providerId)).toEqual(["1", "2", "3"]);
  const asOf = rows.map(({ dataAsOf }) => dataAsOf);
  expect(asOf).toEqual(asOf.toSorted());
  expect((asOf.at(-1) ?? "") >= endDate).toBe(true);
});

it("is read from the ledger where the rollup contradicts itself, as a breakdown is", async () => {
  await knex(TABLES.sums).where({ provider_id: 3, total: 1 }).increment("gross", 1);
  const { providers } = await pageOf({});
  expect(damaged).toEqual(["3"]);
  expect(providers.map(({ grossRevenue }) => grossRevenue.value)).toEqual(Array(3).fill("30.00"));
});
