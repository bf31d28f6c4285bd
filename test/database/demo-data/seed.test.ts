/** The demo data, and the command that stores it. */
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
/** What two commands printed that ran at once: the one that stored the data, and the other. */
let stored: CommandResult | undefined;
let refused: CommandResult | undefined;
beforeAll(async () => {
  await knex.raw(
    `INSERT INTO rollups (provider_id, format, building, version, watermark, leaf, total_leaf, slot, check_at, rows_left)
     VALUES (1, 1, 0, 1, '2026-01-01', 0, 7, 0, '2026-01-01', 0)`,
  );
  await expect(seed(knex, NOW, () => undefined)).rejects.toThrow(NotEmptyError);
  await knex("rollups").del();
  const fail = (line: string) => {
    if (line.startsWith("charges")) throw new Error("interrupted");
  };
  await expect(seed(knex, NOW, fail)).rejects.toThrow("interrupted");
  expect(new Set(Object.values(await counts()))).toEqual(new Set([0]));
  const results = await Promise.all([1, 2].map(() => runCommand("seed", [], database.url)));
  [stored, refused] = results.sort((one, two) => one.code - two.code);
});

async function counts(): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  for (const table of demoTables) {
    const [row] = await knex(table).count({ count: "*" });
    rows[table] = Number(row?.count);
  }
  return rows;
}

it("is stored by one of two commands, after one that was interrupted has left nothing", async () => {
  const { message } = new NotEmptyError("providers");
  expect(stored).toMatchObject({ code: 0, stderr: "" });
  expect(refused).toMatchObject({ code: 1, stderr: `error: ${message}\n` });
  const before = await counts();
  await expect(seed(knex, NOW, () => undefined)).rejects.toThrow(message);
  expect(await counts()).toEqual(before);
});

it("has a large provider, a small one, and one without charges, which are printed with the next command", () => {
  const lines = (stored?.stdout ?? "").trimEnd().split("\n");
  const head = lines.indexOf("PROVIDER  SERVERS  CHARGES  NAME");
  const providers = lines.slice(head + 1, head + 4).map((line) => line.split(/ +/).map(Number));
  expect(providers.map(([id, servers]) => [id, servers])).toEqual([
    [1, 12],
    [2, 3],
    [3, 1],
  ]);
  const [large = 0, small = 0, none] = providers.map(([, , charges]) => charges);
  expect(large).toBeGreaterThan(20_000);
  expect(small).toBeGreaterThan(200);
  expect(none).toBe(0);
  expect(lines.at(-1)).toMatch(/npm run key -- create --provider 1$/);
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
