/** The output and the exit code of `npm run rollup`, and what it does when it is stopped. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fromDatetime } from "../../../src/db/datetime.ts";
import { TABLES } from "../../../src/rollup/coverage.ts";
import { rollUp } from "../../../src/rollup/write/run.ts";
import { verify } from "../../../src/rollup/write/verify.ts";
import { runRollup, startRollup } from "../../support/commands/rollup-process.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { watchProcesses } from "../../support/process-list.ts";
import { addBulk } from "../../support/rollup/bulk.ts";
import { expectExact } from "../../support/rollup/snapshot-oracle.ts";

const CLEAN = "the rollups agree with the ledger\n";

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

const rollup = (...args: string[]) => runRollup(database.url, ...args);
const fill = (providers: readonly number[], charges = 1_000) =>
  addBulk(
    database.knex,
    providers.map((provider) => ({ provider, servers: 3, instances: 4, charges, rentals: 40 })),
  );
/** Providers with rollups that are up to date. */
async function fillAndRollUp(...providers: number[]): Promise<void> {
  await fill(providers);
  await rollUp(database.knex, { margin: 0 });
}

/** A successful ending whose output is one line. */
function success(line: RegExp | string) {
  const text = typeof line === "string" ? line : expect.stringMatching(line);
  return { code: 0, signal: null, stderr: "", stdout: text };
}
const added = (charges: number, providers: number) =>
  success(
    new RegExp(`^${charges} charges added, ${providers} providers up to date, [\\d.]+ s\\n$`),
  );

describe("bringing the rollups up to date", () => {
  it("adds every charge once, and accepts a provider without charges", async () => {
    expect(await rollup()).toEqual(added(0, 0));
    await fill([1, 2]);
    await database.knex("providers").insert({ id: 3, name: "new" });
    expect(await rollup("--verify")).toEqual(
      success("there is no rollup to compare, 2 providers without a rollup\n"),
    );
    expect(await rollup("--margin", "0")).toEqual(added(2_000, 3));
    // Whatever the margin, the last second is left out: its charges may not have committed. The
    // heartbeat is written right before the clock is read.
    const { written_at } = await database.knex("heartbeat").first();
    const { watermark } = await database.knex(TABLES.rollups).first();
    expect(fromDatetime(written_at) - fromDatetime(watermark)).toBeGreaterThan(0);
    expect(await rollup("--verify")).toEqual(success(CLEAN));
    for (const provider of ["1", "2", "3"]) await expectExact(database.knex, provider);
  });

  it("leaves out what was recorded within the margin, by default 15 minutes", async () => {
    await fillAndRollUp(1);
    await database.knex.raw("UPDATE rollups SET watermark = NOW(3) - INTERVAL 1 HOUR");
    for (const minutes of [14, 16]) {
      await database.knex.raw(
        `INSERT INTO charges (provider_id, server_id, charged_at, gross, recorded_at)
         VALUES (1, 1001, '2025-01-05', 5, NOW(3) - INTERVAL ? MINUTE)`,
        [minutes],
      );
    }
    expect(await rollup()).toEqual(added(1, 1));
    await expectExact(database.knex, "1");
    expect(await rollup("--margin", "0")).toEqual(added(1, 1));
  });

  it("repairs differences, and reports them as errors", async () => {
    await fillAndRollUp(1);
    await database.knex("rollups").update({ watermark: "9000-01-01 00:00:00.000" });
    const { code, stdout, stderr } = await rollup();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^1000 charges added, .* s, 1 difference repaired\n$/);
    expect(stderr).toBe(
      "error: provider 1: the watermark 9000-01-01 00:00:00.000 lay in the future (cause: future watermark); the rollup is built again\n",
    );
  });
});

describe("--verify prints differences, which", () => {
  it("--rebuild removes, also if two rebuild at once", async () => {
    await fillAndRollUp(1, 2);
    const sums = () => database.knex(TABLES.sums).where({ provider_id: 1 }).orderBy("at", "desc");
    await sums().where({ server_id: 1_001 }).limit(1).increment("gross", 0.01);
    await sums().where({ total: 1 }).limit(1).increment("gross", 0.02);
    const { code, stdout, stderr } = await rollup("--verify");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    const line = (owner: string, gross: string) =>
      expect.stringMatching(
        `^provider 1, \\S+ \\S+ to \\S+ \\S+, ${owner}: the rollup differs from the ledger by ${gross} of gross, 0 charges, 0 starts and 0 ends of rentals$`,
      );
    expect(stdout.trimEnd().split("\n")).toEqual([
      line("server 1001, instance \\d+", "0.01"),
      line("as a whole", "0.02"),
      "2 differences",
    ]);
    const rebuilds = await Promise.all([rollup("--rebuild"), rollup("--rebuild")]);
    for (const ending of rebuilds) expect(ending).toMatchObject({ code: 0, stderr: "" });
    expect(await rollup("--verify")).toEqual(success(CLEAN));
  });

  it("--verify --repair removes, and says from what", async () => {
    await fillAndRollUp(1);
    await database.knex("charges").limit(1).update({ gross: "77777.00" });
    const { code, stdout, stderr } = await rollup("--verify", "--repair");
    expect(code).toBe(1);
    expect(stdout).toMatch(/\n2 differences\n0 charges added, .* s, 1 difference repaired\n$/);
    expect(stderr).toMatch(
      /^error: provider 1, .*: repaired by \S+ of gross, 0 charges, .* \(cause: changed row\)\n$/,
    );
    expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
  });
});

it("a signal in the middle of a build ends it with 0, and the next run goes on", async () => {
  await fill([1], 15_000);
  const first = startRollup(database.url);
  await until(30_000, async () => (await database.knex(TABLES.sums).first()) !== undefined);
  first.signal("SIGINT");
  const ending = await first.ended;
  expect(ending).toMatchObject({ code: 0, stderr: "" });
  const added = Number(/(\d+) charges added/.exec(ending.stdout)?.[1]);
  expect(await rollUp(database.knex, { margin: 0 })).toMatchObject({ charges: 15_000 - added });
  expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
});

describe("--watch", () => {
  const isBuilt = (provider: number) => async () =>
    (await database.knex(TABLES.rollups).where({ provider_id: provider, building: 0 })).length > 0;

  /** Resolves when the heartbeat has been written twice more. */
  function untilBeating(): Promise<void> {
    const seen = new Set<string>();
    return until(30_000, async () => {
      for (const { written_at } of await database.knex("heartbeat")) seen.add(`${written_at}`);
      return seen.size > 2;
    });
  }

  it("adds new charges, is silent if there are none, and exits with 0", async () => {
    await fill([1]);
    const process = startRollup(database.url, "--margin", "0", "--watch", "0.3");
    // A build that takes longer than the pause is several runs, and the last may add no charge.
    await until(20_000, isBuilt(1));
    await untilBeating();
    const lines = process.lines();
    expect(lines[0]).toMatch(/^open transactions are visible: /);
    const added = lines.map((line) => Number(/^(\d+) charges added, 1 /.exec(line)?.[1] ?? 0));
    expect(added.reduce((sum, count) => sum + count)).toBe(1_000);
    await untilBeating();
    expect(process.lines()).toEqual(lines);
    await fill([2]);
    await until(20_000, isBuilt(2));
    process.signal("SIGTERM");
    expect(await process.ended).toMatchObject({ code: 0, signal: null, stderr: "" });
  });

  it("writes the heartbeat while a run waits for a lock, and connects again after a failed run", async () => {
    await fillAndRollUp(1);
    const processes = await watchProcesses(database.name);
    const process = startRollup(database.url, "--margin", "0", "--watch", "0.1");
    await database.knex.transaction(async (blocker) => {
      await blocker("rollups").where({ provider_id: 1 }).forUpdate();
      const charge = { provider_id: 1, server_id: 1, charged_at: "2024-01-01", gross: "1.00" };
      await database.knex("charges").insert(charge);
      await until(20_000, async () => (await processes.running("rollups")).length > 0);
      await untilBeating();
    });
    const own = await database.knex.raw("SELECT CONNECTION_ID() AS id");
    const before = (await processes.connections()).filter((id) => id !== Number(own[0][0].id));
    await database.knex.raw("RENAME TABLE rollups TO hidden");
    await until(20_000, async () => {
      const now = await processes.connections();
      return before.filter((id) => now.includes(id)).length <= 1; // those of the test
    });
    await database.knex.raw("RENAME TABLE hidden TO rollups");
    await untilBeating();
    await processes.close();
    process.signal("SIGTERM");
    const { code, stderr } = await process.ended;
    expect(code).toBe(0);
    expect(stderr).toMatch(/^run failed, will retry: the database lacks the tables /m);
  });
});

describe("a mistake is reported:", () => {
  it.each([
    [["--margin", "-1"], "error: option '--margin <seconds>' argument '-1' is invalid. "],
    [["--repair"], "error: --repair needs --verify"],
  ])("%j", async (args, error) => {
    const { code, stdout, stderr } = await rollup(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(error);
  });

  it("an unavailable database", async () => {
    const unavailable = Object.assign(new URL(database.url), { port: "1" });
    expect(await runRollup(unavailable.href)).toMatchObject({
      code: 1,
      stdout: "",
      stderr:
        "error: cannot reach the database in DATABASE_URL: check that it is running and that the host and port are correct (ECONNREFUSED)\n",
    });
  });
});
