/** The demo data, and the command that stores it: all of it, or nothing. */
import { beforeAll, expect, it } from "vitest";
import { demoTables } from "../../../dev/demo-data/ledger.ts";
import { NotEmptyError, seed } from "../../../dev/demo-data/seed.ts";
import { type CommandResult, runCommand } from "../../support/commands/run-command.ts";
import { databaseOfFile } from "../file-database.ts";

const DAY = 86_400_000;
const NOW = Date.now();
const epochOf = (datetime: string) => Date.parse(`${datetime.replace(" ", "T")}Z`);

const database = await databaseOfFile();
const { knex } = database;
async function counts(): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const table of demoTables) {
    const [row] = await knex(table).count({ count: "*" });
    rows[table] = Number(row?.count);
  }
  return rows;
}

let stored: CommandResult;
beforeAll(async () => {
  const fail = (line: string) => {
    if (line.startsWith("charges")) throw new Error("interrupted");
  };
  await expect(seed(knex, NOW, fail)).rejects.toThrow("interrupted");
  expect(new Set(Object.values(await counts()))).toEqual(new Set([0]));
  stored = await runCommand("seed", [], database.url);
});

it("is stored once, a large provider, a small one, and one without charges, printed with the next command", async () => {
  expect(stored).toMatchObject({ code: 0, stderr: "" });
  const lines = stored.stdout.trimEnd().split("\n");
  const head = lines.indexOf("PROVIDER  SERVERS  CHARGES  NAME");
  const providers = lines
    .slice(head + 1, head + 4)
    .map((line) => line.split(/ +/).slice(0, 3).map(Number));
  expect(providers).toMatchObject([
    [1, 12, expect.toSatisfy((charges) => charges > 20_000)],
    [2, 3, expect.toSatisfy((charges) => charges > 200)],
    [3, 1, 0],
  ]);
  expect(lines.at(-1)).toMatch(/npm run key -- create --provider 1$/);
  const before = await counts();
  await expect(seed(knex, NOW, () => undefined)).rejects.toThrow(NotEmptyError);
  expect(await counts()).toEqual(before);
});

it("has what a page has to show: two years of charges that end now, refunds, rentals that run, deleted servers, and any name", async () => {
  const [row] = await knex("charges").min({ first: "charged_at" }).max({ last: "charged_at" });
  const [first, last] = [epochOf(row?.first), epochOf(row?.last)];
  expect(Math.abs(NOW - 730 * DAY - first)).toBeLessThan(10 * DAY);
  expect(last).toBeGreaterThan(NOW - DAY);
  expect(last).toBeLessThanOrEqual(Date.now());
  for (const [table, condition] of [
    ["charges", "gross < 0"],
    ["rentals", "ended_at IS NULL"],
    ["rentals", "instance_id IS NULL"],
    ["servers", "deleted_at IS NOT NULL"],
    ["servers", "status = 'Maintenance'"],
    ["servers", "name LIKE '%<script>%'"],
    ["servers", "CHAR_LENGTH(name) = 255"],
    ["servers", "name LIKE '%🚀%'"],
  ] as const) {
    expect((await knex(table).whereRaw(condition)).length, condition).toBeGreaterThan(0);
  }
  expect(await knex("rentals").whereRaw("ended_at <= started_at")).toEqual([]);
});

it("has payouts and balances that add up to the earnings", async () => {
  for (const provider_id of [1, 2]) {
    const [charged] = await knex("charges").where({ provider_id }).sum({ gross: "gross" });
    const [paid] = await knex("payouts").where({ provider_id }).sum({ amount: "amount" });
    const wallet = await knex("wallets").where({ provider_id }).first();
    const balance = Number(charged?.gross) * 0.9 - Number(paid?.amount);
    expect(Math.abs(Number(wallet.available_balance) - balance)).toBeLessThan(0.25);
  }
});
