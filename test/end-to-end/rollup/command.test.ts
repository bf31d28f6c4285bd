/** The output and the exit code of `npm run rollup`. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fromDatetime } from "../../../src/db/datetime.ts";
import { TABLES } from "../../../src/rollup/coverage.ts";
import { type Ending, runRollup, startRollup } from "../../support/commands/rollup-process.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { watchProcesses } from "../../support/process-list.ts";
import { addBulk } from "../../support/rollup/bulk.ts";
import { expectExact } from "../../support/rollup/snapshot-oracle.ts";

const SMALL = { servers: 3, instances: 4, charges: 1_000, rentals: 40 };
const CLEAN = "the rollups agree with the ledger\n";

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

const rollup = (...args: string[]) => runRollup(database.url, ...args);
const fill = (...providers: number[]) =>
  addBulk(
    database.knex,
    providers.map((provider) => ({ provider, ...SMALL })),
  );

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
  it("succeeds on a database without providers", async () => {
    expect(await rollup()).toEqual(added(0, 0));
    expect(await rollup("--verify")).toEqual(success("there is no rollup to compare\n"));
  });

  it("adds every charge once, and accepts a provider without charges", async () => {
    await fill(1, 2);
    await database.knex("providers").insert({ id: 3, name: "new" });
    expect(await rollup("--verify")).toEqual(
      success("there is no rollup to compare, 2 providers without a rollup\n"),
    );
    expect(await rollup("--margin", "0")).toEqual(added(2_000, 3));
    expect(await rollup("--margin", "0")).toEqual(added(0, 3));
    expect(await rollup("--verify")).toEqual(success(CLEAN));
    for (const provider of ["1", "2", "3"]) await expectExact(database.knex, provider);
  });

  it("leaves out what was recorded within the margin, by default 15 minutes", async () => {
    await fill(1);
    await rollup();
    await database.knex.raw("UPDATE rollups SET watermark = NOW(3) - INTERVAL 1 HOUR");
    const recordedAgo = (minutes: number) =>
      database.knex.raw(
        `INSERT INTO charges (provider_id, server_id, charged_at, gross, recorded_at)
         VALUES (1, 1001, '2025-01-05', 5, NOW(3) - INTERVAL ? MINUTE)`,
        [minutes],
      );
    await recordedAgo(14);
    expect(await rollup()).toEqual(added(0, 1));
    await expectExact(database.knex, "1");
    await recordedAgo(16);
    expect(await rollup()).toEqual(added(1, 1));
    await expectExact(database.knex, "1");
    expect(await rollup("--margin", "0")).toEqual(added(1, 1));
    expect(await rollup("--verify")).toEqual(success(CLEAN));
  });

  it("leaves out the last second whatever the margin: its charges may not have committed", async () => {
    await fill(1);
    await rollup("--margin", "0");
    // The heartbeat is written right before the clock is read.
    const { written_at } = await database.knex("heartbeat").first();
    const { watermark } = await database.knex(TABLES.rollups).first();
    expect(fromDatetime(written_at) - fromDatetime(watermark)).toBeGreaterThan(0);
  });
});

describe("--verify and --rebuild", () => {
  it("differences are printed, and removed by a rebuild", async () => {
    await fill(1, 2);
    await rollup();
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
    expect(await rollup("--rebuild")).toEqual(added(2_000, 2));
    expect(await rollup("--verify")).toEqual(success(CLEAN));
  });

  it("responses stay exact during a rebuild", async () => {
    await fill(1);
    await rollup();
    const rebuilding = rollup("--rebuild");
    let ending: Ending | undefined;
    rebuilding.then((result) => (ending = result));
    let compared = 0;
    for (; ending === undefined; compared++) await expectExact(database.knex, "1");
    expect(await rebuilding).toEqual(added(1_000, 1));
    expect(compared).toBeGreaterThan(1);
    await expectExact(database.knex, "1");
  });

  it("--verify --repair removes differences, and says from what", async () => {
    await fill(1);
    await rollup();
    await database.knex("charges").limit(1).update({ gross: "77777.00" });
    const { code, stdout, stderr } = await rollup("--verify", "--repair");
    expect(code).toBe(1);
    expect(stdout).toMatch(/\n2 differences\n0 charges added, .* s, 1 difference repaired\n$/);
    expect(stderr).toMatch(
      /^error: provider 1, .*: repaired by \S+ of gross, 0 charges, .* \(cause: changed row\)\n$/,
    );
    expect(await rollup("--verify")).toEqual(success(CLEAN));
  });

  it("a run repairs differences, and reports them as errors", async () => {
    await fill(1);
    await rollup();
    await database.knex("rollups").update({ watermark: "9000-01-01 00:00:00.000" });
    const { code, stdout, stderr } = await rollup();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^1000 charges added, .* s, 1 difference repaired\n$/);
    expect(stderr).toBe(
      "error: provider 1: the watermark 9000-01-01 00:00:00.000 lay in the future (cause: future watermark); the rollup is built again\n",
    );
    expect(await rollup("--verify")).toEqual(success(CLEAN));
  });
});

describe("--watch", () => {
  /** Resolves when the heartbeat has been written three times more. */
  const untilBeating = () => {
    const seen = new Set<string>();
    return until(30_000, async () => {
      for (const { written_at } of await database.knex("heartbeat")) seen.add(`${written_at}`);
      return seen.size > 3;
    });
  };

  it("writes the heartbeat about once a second, also between runs", async () => {
    const process = startRollup(database.url, "--watch", "60");
    await untilBeating();
    process.signal("SIGTERM");
    expect(await process.ended).toMatchObject({ code: 0, stderr: "" });
  });

  it("writes the heartbeat while a run waits for a lock", async () => {
    await fill(1);
    await rollup("--margin", "0");
    const process = startRollup(database.url, "--margin", "0", "--watch", "0.1");
    await database.knex.transaction(async (blocker) => {
      await blocker("rollups").where({ provider_id: 1 }).forUpdate();
      const charge = { provider_id: 1, server_id: 1, charged_at: "2024-01-01", gross: "1.00" };
      await database.knex("charges").insert(charge);
      const processes = await watchProcesses(database.name);
      await until(20_000, async () => (await processes.running("rollups")).length > 0);
      await processes.close();
      await untilBeating();
    });
    process.signal("SIGTERM");
    expect(await process.ended).toMatchObject({ code: 0 });
  });

  const VISIBLE = /^open transactions are visible: /;

  it.each(["SIGTERM", "SIGINT"] as const)(
    "repeats until %s, exits with 0, and is silent if there is nothing to do",
    async (signal) => {
      await fill(1);
      const process = startRollup(database.url, "--margin", "0", "--watch", "0.3");
      /** A build that takes longer than the pause is several runs. */
      const charges = () =>
        process
          .lines()
          .reduce((sum, line) => sum + Number(/^(\d+) charges/.exec(line)?.[1] ?? 0), 0);
      const isBuilt = () => database.knex(TABLES.rollups).where({ building: 0 }).first();
      await until(20_000, async () => (await isBuilt()) !== undefined);
      await untilBeating();
      const lines = process.lines();
      expect(charges()).toBe(1_000);
      expect(lines[0]).toMatch(VISIBLE);
      expect(lines.at(-1)).toMatch(/^\d+ charges added, 1 providers up to date, .* s$/);
      await untilBeating();
      process.signal(signal);
      const { stdout, ...ending } = await process.ended;
      expect(ending).toEqual({ code: 0, signal: null, stderr: "" });
      expect(stdout.trimEnd().split("\n")).toEqual(lines);
    },
  );

  it("adds the charges of new providers", async () => {
    await fill(1);
    const process = startRollup(database.url, "--margin", "0", "--watch", "0.05");
    await until(20_000, () => process.lines().length >= 2);
    await addBulk(database.knex, [{ provider: 2, ...SMALL }]);
    await until(20_000, async () => {
      const built = { provider_id: 2, building: 0 };
      return (await database.knex(TABLES.rollups).where(built)).length === 1;
    });
    process.signal("SIGTERM");
    expect(await process.ended).toMatchObject({ code: 0 });
  });

  it("connects again after a failed run", async () => {
    await fill(1);
    const process = startRollup(database.url, "--margin", "0", "--watch", "0.05");
    await until(20_000, () => process.lines().length >= 2);
    const processes = await watchProcesses(database.name);
    const before = await processes.connections();
    await database.knex.raw("RENAME TABLE rollups TO hidden");
    await until(20_000, async () => {
      const now = await processes.connections();
      return before.filter((id) => now.includes(id)).length <= 1; // that of the test
    });
    await database.knex.raw("RENAME TABLE hidden TO rollups");
    await processes.close();
    process.signal("SIGTERM");
    const { code, stderr } = await process.ended;
    expect(code).toBe(0);
    expect(stderr).toMatch(/^run failed, will retry: the database lacks the tables /);
  });
});
