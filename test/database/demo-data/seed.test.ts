/** The demo data, and the command that stores it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { demoTables } from "../../../dev/demo-data/ledger.ts";
import { NotEmptyError, seed } from "../../../dev/demo-data/seed.ts";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createPool } from "../../../src/db/pool.ts";
import { runCommand } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
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

async function withDatabase(run: (own: TestDatabase) => Promise<void>): Promise<void> {
  const own = await createDatabase();
  try {
    await run(own);
  } finally {
    await own.drop();
  }
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

  it("has a large provider, a small one, and one without charges", async () => {
    expect(providers.map(({ id, servers }) => [id, servers])).toEqual([
      [1, 12],
      [2, 3],
      [3, 1],
    ]);
    const [large = 0, small = 0, none] = providers.map(({ charges }) => charges);
    expect(large).toBeGreaterThan(20_000);
    expect(small).toBeGreaterThan(200);
    expect(none).toBe(0);
    const ids = (await knex()("providers").orderBy("id").pluck("id")).map(Number);
    expect(ids).toEqual([1, 2, 3]);
    const [row] = await knex()("charges").where({ provider_id: 1 }).count({ count: "*" });
    expect(Number(row?.count)).toBe(large);
  });

  it("has two years of charges that end now", async () => {
    const [row] = await knex()("charges").min({ first: "charged_at" }).max({ last: "charged_at" });
    const [first, last] = [epochOf(row?.first), epochOf(row?.last)];
    expect(first).toBeGreaterThan(NOW - 731 * DAY);
    expect(first).toBeLessThan(NOW - 720 * DAY);
    expect(last).toBeGreaterThan(NOW - DAY);
    expect(last).toBeLessThanOrEqual(NOW);
  });

  it("has charges of the large provider in each of the last twelve months", async () => {
    const charged: string[] = await knex()("charges").where({ provider_id: 1 }).pluck("charged_at");
    const months = new Set(charged.map((datetime) => datetime.slice(0, 7)));
    for (let month = 0; month < 12; month++) {
      expect(months).toContain(new Date(Date.UTC(2026, 10 - month)).toISOString().slice(0, 7));
    }
  });

  it("charges each rental its price times its hours, apart from refunds", async () => {
    const rows: Record<string, string | null>[] = await knex()("rentals")
      .join("servers", "servers.id", "rentals.server_id")
      .join("charges", "charges.rental_id", "rentals.id")
      .where("charges.gross", ">", 0)
      .whereNotNull("rentals.ended_at")
      .groupBy("rentals.id", "rentals.started_at", "rentals.ended_at", "servers.price_per_hour")
      .select("rentals.started_at", "rentals.ended_at", "servers.price_per_hour")
      .sum({ gross: "charges.gross" })
      .count({ charges: "charges.id" });
    expect(rows.length).toBeGreaterThan(1000);
    for (const { started_at, ended_at, price_per_hour, gross, charges } of rows) {
      const hours = (epochOf(ended_at ?? "") - epochOf(started_at ?? "")) / HOUR;
      const rounding = 0.005 * Number(charges) + 0.01; // a last charge of zero is left out
      expect(Math.abs(Number(gross) - hours * Number(price_per_hour))).toBeLessThan(rounding);
    }
  });

  it("has refunds, running and ended rentals, rentals of a whole server, and a free server", async () => {
    expect(await count(knex()("charges").where("gross", "<", 0))).toBeGreaterThan(50);
    expect(await count(knex()("rentals").whereNull("ended_at"))).toBeGreaterThan(10);
    expect(await count(knex()("rentals").whereNotNull("ended_at"))).toBeGreaterThan(1000);
    expect(await count(knex()("rentals").whereNull("instance_id"))).toBeGreaterThan(10);
    expect(await count(knex()("rentals").where("started_at", ">", new Date(NOW)))).toBe(0);
    expect(await count(knex()("rentals").whereRaw("ended_at <= started_at"))).toBe(0);
    expect(await count(knex()("servers").where({ price_per_hour: 0 }))).toBe(1);
  });

  it("has soft-deleted servers and instances, with and without charges", async () => {
    const deleted = knex()("servers").whereNotNull("deleted_at").where({ provider_id: 1 });
    const ids: unknown[] = await deleted.orderBy("id").pluck("id");
    const charges = await Promise.all(
      ids.map((server_id) => count(knex()("charges").where({ server_id }))),
    );
    expect(charges).toEqual([expect.any(Number), 0]);
    expect(charges[0]).toBeGreaterThan(1000);
    const late = knex()("rentals")
      .join("servers", "servers.id", "rentals.server_id")
      .whereNotNull("servers.deleted_at")
      .whereRaw("(rentals.ended_at IS NULL OR rentals.ended_at > servers.deleted_at)");
    expect(await count(late)).toBe(0);
    const retired = knex()("instances")
      .join("servers", "servers.id", "instances.server_id")
      .whereNotNull("instances.deleted_at")
      .whereNull("servers.deleted_at");
    expect(await count(retired)).toBeGreaterThan(0);
  });

  it("has servers under maintenance without running rentals", async () => {
    const inMaintenance: unknown[] = await knex()("servers")
      .where({ status: "Maintenance" })
      .pluck("id");
    expect(inMaintenance.length).toBeGreaterThan(0);
    const running = knex()("rentals").whereIn("server_id", inMaintenance.map(String));
    expect(await count(running.whereNull("ended_at"))).toBe(0);
  });

  it("has names with quotes, markup, other scripts, emoji and 255 characters", async () => {
    const names: string[] = await knex()("servers").pluck("name");
    for (const pattern of [
      /"/,
      /'/,
      /<script>/,
      /🚀/u,
      /\p{Script=Arabic}/u,
      /\p{Script=Han}/u,
      /👩‍💻/u,
    ]) {
      expect(
        names.some((name) => pattern.test(name)),
        String(pattern),
      ).toBe(true);
    }
    expect(names.some((name) => [...name].length === 255)).toBe(true);
  });

  it("has payouts and balances that add up to the earnings", async () => {
    for (const provider_id of [1, 2]) {
      const [charged] = await knex()("charges").where({ provider_id }).sum({ gross: "gross" });
      const [paid] = await knex()("payouts").where({ provider_id }).sum({ amount: "amount" });
      const wallet = await knex()("wallets").where({ provider_id }).first();
      const balance = Number(charged?.gross) * 0.9 - Number(paid?.amount);
      expect(Math.abs(Number(wallet.available_balance) - balance)).toBeLessThan(0.25);
      expect(Number(wallet.available_balance)).toBeGreaterThan(0);
    }
    expect(await count(knex()("payouts").where({ provider_id: 1 }))).toBeGreaterThan(12);
    expect(await count(knex()("payouts").where({ provider_id: 1, status: "Pending" }))).toBe(1);
    expect(await count(knex()("wallets").where({ provider_id: 3 }))).toBe(0);
  });
});

describe("seeding", () => {
  it("fails if any table has a row, and changes nothing", async () => {
    await withDatabase(async (own) => {
      const rows = {
        providers: { name: "x" },
        wallets: { provider_id: 1, available_balance: "0.00" },
        api_keys: { provider_id: 1, name: "x", key_hash: Buffer.alloc(32), hint: "rvk_xxxx" },
        payouts: {
          provider_id: 1,
          public_id: "x",
          paid_at: new Date(NOW),
          amount: "1.00",
          method: "x",
          status: "x",
        },
        charges: { provider_id: 1, server_id: 1, charged_at: new Date(NOW), gross: "1.00" },
      };
      for (const [table, row] of Object.entries(rows)) {
        await own.knex(table).insert(row);
        const before = await counts(own);
        const error = new NotEmptyError(table);
        await expect(seed(own.knex, NOW, () => undefined)).rejects.toThrow(error);
        expect(await runCommand("seed", [], own.url)).toEqual({
          code: 1,
          stdout: "",
          stderr: `error: ${error.message}\n`,
        });
        expect(await counts(own)).toEqual(before);
        await own.knex(table).del();
      }
    });
  });

  it("stores nothing if it fails, and can be repeated", async () => {
    await withDatabase(async (own) => {
      const fail = (line: string) => {
        if (line.startsWith("payouts")) throw new Error("interrupted");
      };
      await expect(seed(own.knex, NOW, fail)).rejects.toThrow("interrupted");
      expect(new Set(Object.values(await counts(own)))).toEqual(new Set([0]));
      const again = await seed(own.knex, NOW, () => undefined);
      expect(again.map(({ id }) => id)).toEqual([1, 2, 3]);
    });
  });

  it("stores the data once if two run concurrently", async () => {
    await withDatabase(async (own) => {
      const other = createPool(parseDatabaseUrl(own.url));
      try {
        const outcomes = await Promise.allSettled(
          [own.knex, other].map((knex) => seed(knex, NOW, () => undefined)),
        );
        expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
        const loser = outcomes.find(({ status }) => status === "rejected");
        expect(loser).toMatchObject({ reason: expect.any(NotEmptyError) });
        const winner = outcomes.find(({ status }) => status === "fulfilled");
        const charges =
          winner?.status === "fulfilled" ? winner.value.map(({ charges }) => charges) : [];
        expect((await counts(own)).charges).toBe(charges.reduce((sum, count) => sum + count, 0));
      } finally {
        await other.destroy();
      }
    });
  });

  it("prints the providers and the next command", async () => {
    await withDatabase(async (own) => {
      const { code, stdout, stderr } = await runCommand("seed", [], own.url);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(/^PROVIDER {2}SERVERS {2}CHARGES {2}NAME$/m);
      expect(stdout).toMatch(/^3 {9}1 {8}0 {8}\S/m);
      expect(stdout).toMatch(/npm run key -- create --provider 1\n$/);
    });
  });
});
