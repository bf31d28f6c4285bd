/** Small rollups that are refreshed together. */
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../../src/config.ts";
import { createPool } from "../../../../src/db/pool.ts";
import { TABLES } from "../../../../src/rollup/tables.ts";
import { refresh } from "../../../../src/rollup/write/refresh.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { type ProcessList, watchProcesses } from "../../../support/process-list.ts";
import { SOAK } from "../../../support/soak.ts";
import { build, charge, rollupOf } from "../write/built.ts";

/** Ids that are equal as floating-point numbers, and others. */
const PROVIDERS = ["9007199254740992", "9007199254740993", "1", "2", "3"];
const minute = (number: number) =>
  `2026-01-20 ${String(12 + Math.floor(number / 60)).padStart(2, "0")}:${String(number % 60).padStart(2, "0")}:00.000`;

let database: TestDatabase;
let processes: ProcessList;
beforeAll(async () => {
  database = await createDatabase();
  processes = await watchProcesses(database.name);
});
beforeEach(async () => {
  for (const table of ["providers", "charges", "rentals", ...Object.values(TABLES)]) {
    await database.knex(table).del();
  }
  await database.knex("providers").insert(PROVIDERS.map((id) => ({ id, name: "provider" })));
  await record(["2025-09-05", "2025-10-05", "2025-11-05"], "2025-12-01");
  // Some have been built before: their current generation is the second.
  for (const provider of [...PROVIDERS, ...PROVIDERS.slice(1, 3)]) {
    await build(database.knex, provider, minute(0), 1);
  }
});
afterAll(async () => {
  await processes.close();
  await database.drop();
});

/** Records charges of every provider. */
async function record(days: readonly string[], recordedAt: string): Promise<void> {
  const rows = days.map((day) => charge(day, recordedAt));
  await database
    .knex("charges")
    .insert(PROVIDERS.flatMap((provider_id) => rows.map((row) => ({ ...row, provider_id }))));
}

async function expectExact(): Promise<void> {
  for (const provider of PROVIDERS) {
    expect(await Array.fromAsync(verify(database.knex, provider))).toEqual([]);
  }
}

const all = PROVIDERS.map((provider) => ({ provider, size: 1 }));

it("each gets its own rows, whatever they are and wherever they lie", async () => {
  const anyRow = fc.record({
    provider: fc.constantFrom(...PROVIDERS),
    day: fc.nat(200),
    server: fc.integer({ min: 1, max: 3 }),
    rental: fc.boolean(),
  });
  let round = 0;
  for (const rows of fc.sample(fc.array(anyRow, { maxLength: 25 }), Math.min(6 * SOAK, 600))) {
    const recordedAt = minute(++round);
    for (const { provider, day, server, rental } of rows) {
      const owner = { provider_id: provider, server_id: server };
      const at = (days: number) =>
        database.knex.raw("TIMESTAMPADD(DAY, ?, '2025-07-01')", [day + days]);
      if (rental) {
        const times = { started_at: at(0), ended_at: at(2), updated_at: recordedAt };
        await database.knex("rentals").insert({ ...owner, ...times });
      } else {
        const times = { charged_at: at(0), recorded_at: recordedAt };
        await database.knex("charges").insert({ ...owner, ...times, gross: "1.25" });
      }
    }
    const added = await refresh(database.knex, all, recordedAt);
    const expected = PROVIDERS.map(
      (id) => rows.filter(({ provider, rental }) => provider === id && !rental).length,
    );
    expect(added).toEqual(expected);
    await expectExact();
  }
});

it("of refreshes at once, in any order and with any others, each row is added by one", async () => {
  await record(["2025-09-05", "2025-12-05"], minute(5));
  const added = await Promise.all([
    refresh(database.knex, all, minute(10)),
    refresh(database.knex, all.toReversed(), minute(10)),
    refresh(database.knex, all.slice(2), minute(10)),
  ]);
  expect(added.flat().filter((charges) => charges !== 0)).toEqual(PROVIDERS.map(() => 2));
  await expectExact();
});

it("those whose rollup changes in the meantime are left out, and the others written", async () => {
  await record(["2025-09-05"], minute(5));
  const holder = await database.knex.transaction();
  await holder(TABLES.state).where({ provider_id: "2" }).increment("revision");
  const refreshing = refresh(database.knex, all, minute(10));
  // It has read the old revision, and waits for the row.
  await expect.poll(() => processes.running("for update"), { timeout: 10_000 }).toHaveLength(1);
  await holder.commit();
  expect(await refreshing).toEqual([1, 1, 1, 0, 1]);
  expect(await rollupOf(database.knex, "2")).toEqual({ watermark: minute(0), gross: "3.00" });
  expect(await refresh(database.knex, all, minute(10))).toEqual([0, 0, 0, 1, 0]);
  await expectExact();
});

it("one without a rollup needs a build, and does not hold back the others", async () => {
  await record(["2025-09-05"], minute(5));
  await database.knex(TABLES.state).where({ provider_id: "3" }).del();
  expect(await refresh(database.knex, all, minute(10))).toEqual([1, 1, 1, 1, "build"]);
});

it("one that fails is told, and the others of its group are brought up to date", async () => {
  await record(["2025-09-05"], minute(5));
  await database.knex.raw(
    `CREATE TRIGGER failing BEFORE UPDATE ON rollup_figures FOR EACH ROW
     BEGIN
       IF NEW.provider_id = 2 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF;
     END`,
  );
  await expect(rollUp(database.knex, { margin: 0 })).rejects.toThrow(/^provider 2: .*no$/);
  await database.knex.raw("DROP TRIGGER failing");
  for (const provider of PROVIDERS) {
    const gross = provider === "2" ? "3.00" : "4.00";
    expect(await rollupOf(database.knex, provider)).toMatchObject({ gross });
  }
  expect(await rollUp(database.knex, { margin: 0 })).toMatchObject({ news: 1, charges: 1 });
  await expectExact();
});

it("one whose row another session keeps locked holds back neither its group nor other groups", async () => {
  await record(["2025-09-05"], minute(5));
  const pool = createPool(parseDatabaseUrl(database.url), { maxConnections: 2 });
  // Both connections, of which a statement alone could use one twice.
  const both = await Promise.all([1, 2].map(() => pool.client.acquireConnection()));
  for (const connection of both) {
    await pool.raw("SET SESSION innodb_lock_wait_timeout = 1").connection(connection);
    await pool.client.releaseConnection(connection);
  }
  const holder = await database.knex.transaction();
  await holder(TABLES.state).where({ provider_id: "2" }).forUpdate();
  const run = rollUp(pool, { margin: 0, concurrency: 2 });
  try {
    for (const provider of PROVIDERS.filter((id) => id !== "2")) {
      const gross = async () => (await rollupOf(database.knex, provider)).gross;
      await expect.poll(gross, { timeout: 20_000 }).toBe("4.00");
    }
  } finally {
    await holder.commit();
  }
  expect(await run).toMatchObject({ news: 5, behind: 0, charges: 5 });
  await pool.destroy();
  await expectExact();
});

it("a run over many takes few statements more than a run over one", async () => {
  const statements = async (providers: readonly string[]) => {
    let count = 0;
    const listener = () => count++;
    await database
      .knex("charges")
      .insert(providers.map((id) => ({ ...charge("2025-09-05", minute(5)), provider_id: id })));
    await database.knex(TABLES.state).update({ cut: minute(0) });
    await database
      .knex("charges")
      .where("recorded_at", "<", minute(5))
      .update({ recorded_at: minute(0) });
    database.knex.on("query", listener);
    const { news } = await rollUp(database.knex, { margin: 0, maxTime: 0 });
    database.knex.removeListener("query", listener);
    expect(news).toBe(providers.length);
    return count;
  };
  const one = await statements(["1"]);
  await database
    .knex("charges")
    .where({ recorded_at: minute(5) })
    .del();
  for (const provider of PROVIDERS) await build(database.knex, provider, minute(0), 1);
  expect(await statements(PROVIDERS)).toBeLessThan(one + 5);
});
