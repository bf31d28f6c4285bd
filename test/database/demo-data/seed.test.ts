/** The demo data, and the command that stores it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { demoTables } from "../../../dev/demo-data/ledger.ts";
import { NotEmptyError, seed } from "../../../dev/demo-data/seed.ts";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createPool } from "../../../src/db/pool.ts";
import { failed, runCommand } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 20, 9, 30, 0, 123);
const epochOf = (datetime: string) => Date.parse(`${datetime.replace(" ", "T")}Z`);

async function counts({ knex }: TestDatabase): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const table of demoTables) {
    const [row] = await knex(table).count({ count: "*" });
    rows[table] = Number(row?.count);
  }
  return rows;
}

describe("the demo data", () => {
  let database: TestDatabase;
  let providers: Awaited<ReturnType<typeof seed>>;
  beforeAll(async () => {
    database = await createDatabase();
    providers = await seed(database.knex, NOW, () => undefined);
  });
  afterAll(() => database.drop());
  const knex = () => database.knex;
  const count = async (query: Promise<unknown[]>) => (await query).length;

  it("has a large provider, a small one, and one without charges", () => {
    expect(providers.map(({ id, servers }) => [id, servers])).toEqual([
      [1, 12],
      [2, 3],
      [3, 1],
    ]);
    const [large = 0, small = 0, none] = providers.map(({ charges }) => charges);
    expect(large).toBeGreaterThan(20_000);
    expect(small).toBeGreaterThan(200);
    expect(none).toBe(0);
  });

  it("has two years of charges that end now", async () => {
    const [row] = await knex()("charges").min({ first: "charged_at" }).max({ last: "charged_at" });
    const [first, last] = [epochOf(row?.first), epochOf(row?.last)];
    expect(first).toBeGreaterThan(NOW - 731 * DAY);
    expect(first).toBeLessThan(NOW - 720 * DAY);
    expect(last).toBeGreaterThan(NOW - DAY);
    expect(last).toBeLessThanOrEqual(NOW);
  });

  it("has what a page has to show: refunds, rentals that run, deleted servers, and any name", async () => {
    expect(await count(knex()("charges").where("gross", "<", 0))).toBeGreaterThan(50);
    expect(await count(knex()("rentals").whereNull("ended_at"))).toBeGreaterThan(10);
    expect(await count(knex()("rentals").whereNull("instance_id"))).toBeGreaterThan(10);
    expect(await count(knex()("rentals").whereRaw("ended_at <= started_at"))).toBe(0);
    expect(await count(knex()("servers").whereNotNull("deleted_at"))).toBeGreaterThan(0);
    expect(await count(knex()("servers").where({ status: "Maintenance" }))).toBeGreaterThan(0);
    const names: string[] = await knex()("servers").pluck("name");
    for (const pattern of [/"/, /<script>/, /🚀/u, /\p{Script=Arabic}/u, /^.{255}$/u]) {
      expect(names.filter((name) => pattern.test(name)).length, `${pattern}`).toBeGreaterThan(0);
    }
  });

  it("has payouts and balances that add up to the earnings", async () => {
    for (const provider_id of [1, 2]) {
      const [charged] = await knex()("charges").where({ provider_id }).sum({ gross: "gross" });
      const [paid] = await knex()("payouts").where({ provider_id }).sum({ amount: "amount" });
      const wallet = await knex()("wallets").where({ provider_id }).first();
      const balance = Number(charged?.gross) * 0.9 - Number(paid?.amount);
      expect(Math.abs(Number(wallet.available_balance) - balance)).toBeLessThan(0.25);
    }
    expect(await count(knex()("payouts").where({ provider_id: 1 }))).toBeGreaterThan(12);
  });

  it("is stored in empty tables only", async () => {
    const before = await counts(database);
    const error = new NotEmptyError("providers");
    await expect(seed(knex(), NOW, () => undefined)).rejects.toThrow(error);
    expect(await runCommand("seed", [], database.url)).toEqual(failed(error.message));
    expect(await counts(database)).toEqual(before);
  });
});

it("seeding stores nothing if it fails, and the data once if two run at once", async () => {
  const database = await createDatabase();
  const other = createPool(parseDatabaseUrl(database.url));
  try {
    const fail = (line: string) => {
      if (line.startsWith("payouts")) throw new Error("interrupted");
    };
    await expect(seed(database.knex, NOW, fail)).rejects.toThrow("interrupted");
    expect(new Set(Object.values(await counts(database)))).toEqual(new Set([0]));
    const [one, two] = await Promise.allSettled(
      [database.knex, other].map((knex) => seed(knex, NOW, () => undefined)),
    );
    expect([one?.status, two?.status].sort()).toEqual(["fulfilled", "rejected"]);
    const loser = [one, two].find((outcome) => outcome?.status === "rejected");
    expect(loser).toMatchObject({ reason: expect.any(NotEmptyError) });
    expect((await counts(database)).providers).toBe(3);
  } finally {
    await other.destroy();
    await database.drop();
  }
});

it("npm run seed prints the providers and the next command", async () => {
  const database = await createDatabase();
  const { code, stdout, stderr } = await runCommand("seed", [], database.url);
  await database.drop();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^PROVIDER {2}SERVERS {2}CHARGES {2}NAME$/m);
  expect(stdout).toMatch(/^3 {9}1 {8}0 {8}\S/m);
  expect(stdout).toMatch(/npm run key -- create --provider 1\n$/);
});
