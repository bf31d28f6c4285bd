/** The CSV of both endpoints has the rows, the digits and the sums of their JSON. */
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seed } from "../../../dev/demo-data/seed.ts";
import { parseCents } from "../../../src/db/cents.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(({ knex }) => seed(knex, Date.now(), () => {}));
});
afterAll(() => fixture?.dispose());

const SERVERS = "/api/provider/revenue/servers?startDate=2000-01-01&endDate=2100-01-01";

/** JSON in which each number is a string with its digits. */
async function json(target: string) {
  const { text } = await rawHttp(fixture.service.http, { target, headers: withKey(fixture.key) });
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" ? context?.source : value,
  );
}

/** The rows of a CSV, each by column. */
async function csv(target: string): Promise<Record<string, string>[]> {
  const headers = [...withKey(fixture.key), ["accept", "text/csv"] as const];
  const { status, text } = await rawHttp(fixture.service.http, { target, headers });
  expect(status).toBe(200);
  return parse(text, { columns: true, record_delimiter: "\r\n" });
}

/** A row of the JSON as the CSV has it: a text that a spreadsheet would run has an apostrophe. */
function harmless(row: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(row).map(([name, text]) => [
      name,
      /Name$|Type$/.test(name) && /^[=+@\t\r-]/.test(text) ? `'${text}` : text,
    ]),
  );
}

describe("the overview", () => {
  it("has a row per server, in the order of the JSON and with its digits", async () => {
    const target = "/api/provider/revenue";
    const { serverRevenue } = await json(target);
    expect(serverRevenue.length).toBeGreaterThan(1);
    expect(await csv(target)).toEqual(serverRevenue.map(harmless));
  });
});

describe("the breakdown", () => {
  it("has a row per server and per instance, in the order of the JSON and with its digits", async () => {
    const { servers } = await json(SERVERS);
    const rows = servers.flatMap(({ instances, ...server }: { instances: object[] }) => [
      { ...server, instanceId: "", instanceName: "" },
      ...instances.map((instance) => ({ ...server, ...instance })),
    ]);
    expect(rows.length).toBeGreaterThan(servers.length);
    expect(await csv(SERVERS)).toEqual(rows.map(harmless));
  });

  it("adds up to the JSON's totals, by the rows without an instance", async () => {
    const total = await json(SERVERS);
    const rows = (await csv(SERVERS)).filter(({ instanceId }) => instanceId === "");
    const sum = (name: string, parse: (text: string) => bigint) =>
      rows.reduce((sum, row) => sum + parse(row[name] ?? ""), 0n);
    expect({
      totalRevenue: sum("totalRevenue", parseCents),
      totalRentals: sum("totalRentals", BigInt),
      activeRentals: sum("activeRentals", BigInt),
    }).toEqual({
      totalRevenue: parseCents(total.totalRevenue),
      totalRentals: BigInt(total.totalRentals),
      activeRentals: BigInt(total.activeRentals),
    });
  });
});
