/**
 * The log and the exit code of `npm run rollup`: an upgrade waits for a 0 before it starts services of the new version
 * (docs/operations.md). Its figures are tested in test/database/rollup, its flags in test/unit/cli. Each test goes on
 * where the one before it has stopped.
 * Margins are minutes: within a shorter one, a run may wait for, and report, a statement of another test
 * on the server that has no default database.
 */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createRollupLog } from "../../../src/cli/rollup-log.ts";
import { verifyAll } from "../../../src/cli/rollup-verify.ts";
import { TABLES } from "../../../src/rollup/coverage.ts";
import { MIN_ROWS } from "../../../src/rollup/size.ts";
import { FORMAT } from "../../../src/rollup/sums.ts";
import { parseLog, runCommand, startCommand } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase, testPool } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { watchProcesses } from "../../support/process-list.ts";
import { addBulk } from "../../support/rollup/bulk.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

const rollup = (...args: string[]) => runCommand("rollup", args, database.url);
const fill = (provider: number, charges: number) =>
  addBulk(database.knex, [{ provider, servers: 3, instances: 4, charges, rentals: 40 }]);

/** A run, and the lines of its log. */
async function run(...args: string[]) {
  const { code, stdout, stderr } = await rollup(...args);
  return { code, stderr, log: parseLog(stdout) };
}
const ended = { level: "info", time: expect.stringMatching(/Z$/), msg: "run ended" };

/** What `--verify` prints of rollups without a difference. */
async function verified(): Promise<unknown[]> {
  const print = vi.spyOn(console, "log").mockReturnValue();
  const flags = { margin: 900, checkPeriod: 86_400, concurrency: 1 };
  await verifyAll(testPool(database.url), 3, flags, createRollupLog("info", true));
  const { calls } = print.mock;
  print.mockRestore();
  return calls.flat();
}

it("adds every charge once that is older than the margin, by default 15 minutes, and tells providers that are too small for a rollup, without charges or with few", async () => {
  await fill(1, MIN_ROWS);
  await fill(2, MIN_ROWS);
  await database.knex("providers").insert({ id: 3, name: "new" });
  await fill(5, MIN_ROWS - 1);
  for (const minutes of [5, 16]) {
    await database.knex.raw(
      `INSERT INTO charges (provider_id, server_id, charged_at, gross, recorded_at)
       VALUES (2, 2001, '2025-01-05', 5, NOW(3) - INTERVAL ? MINUTE)`,
      [minutes],
    );
  }
  expect(await verified()).toEqual(["there is no rollup to compare"]);
  const counts = { charges: 2 * MIN_ROWS + 1, providers: 4, small: 2, behind: 0, repairs: 0 };
  const log = [{ ...ended, ...counts, ms: expect.any(Number) }];
  expect(await run()).toEqual({ code: 0, stderr: "", log });
});

it("reports repairs as errors, with what differed", async () => {
  const of = (provider_id: number) => ({ provider_id });
  await database.knex(TABLES.rollups).where(of(1)).update({ watermark: "9000-01-01" });
  const sums = database.knex(TABLES.sums).where(of(2)).orderBy("at", "desc");
  await sums.where({ server_id: 2_001 }).limit(1).increment("gross", 0.01);
  const { code, log } = await run("--check-period", "0", "--concurrency", "1");
  expect(code).toBe(0);
  const repaired = { level: "error", msg: "a rollup was repaired" };
  expect(log).toMatchObject([
    {
      ...{ ...repaired, providerId: "1", gross: "0.00" },
      difference:
        "the watermark 9000-01-01 00:00:00.000 lay in the future: the rollup is built anew",
    },
    {
      ...{ ...repaired, providerId: "2", gross: "0.00" },
      difference: "rows of the rollup were changed or lost: the rollup is built anew",
    },
    { ...ended, repairs: 2 },
  ]);
});

it("--verify prints differences; with --repair it removes them, and says where", async () => {
  // One that a rollup covers.
  const charges = database.knex("charges").where({ provider_id: 2 }).orderBy("recorded_at");
  await charges.limit(1).update({ gross: database.knex.raw("gross + 0.01") });
  const { code, stdout, stderr } = await rollup("--verify", "--repair");
  expect(code).toBe(1);
  expect(stdout.trimEnd().split("\n")).toEqual([
    expect.stringMatching(/^provider 2, .*, server \d+, instance \d+: .* by -0.01 of gross$/),
    expect.stringMatching(/^provider 2, .*, as a whole: .* by -0.01 of gross$/),
    "2 differences",
    expect.stringMatching(
      /^run ended: charges \d, providers 4, small 2, behind 0, repairs 1, ms \d+$/,
    ),
  ]);
  expect(stderr).toMatch(
    /^error: a rollup was repaired: providerId 2, difference .* to .*: repaired by \S+ of gross, gross 0.01\n$/,
  );
  expect(await verified()).toEqual(["the rollups agree with the ledger"]);
});

it("a run that is stopped before every rollup is built ends with 1", async () => {
  await fill(6, MIN_ROWS);
  const processes = await watchProcesses(database.name);
  // The first step of its build waits: another session has begun it too, and has not committed.
  const blocker = await database.knex.transaction();
  await blocker.raw(
    `INSERT INTO ${TABLES.rollups} (provider_id, format, building, version, watermark, leaf, total_leaf, slot, check_at)
     VALUES (6, ?, 1, 1, '2026-01-01', 'P1D', 'P1D', 0, '2026-01-01')`,
    [FORMAT],
  );
  const command = startCommand("rollup", [], database.url);
  await until(async () => (await processes.running("insert ignore")).length > 0);
  command.signal("SIGINT");
  await blocker.rollback();
  await processes.close();
  const { code, stdout } = await command.ended;
  expect(parseLog(stdout).at(-1)).toMatchObject({ msg: "run ended", behind: 1 });
  expect(code).toBe(1);
});

it("flags that contradict each other are a mistake", async () => {
  const { code, stdout, stderr } = await rollup("--verify", "--watch", "30");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("error: option '--verify' cannot be used with option '--watch <");
});
