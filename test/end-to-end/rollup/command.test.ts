/**
 * The log and the exit code of `npm run rollup`, and what it does when it is stopped. Its figures
 * are tested in test/database/rollup, its flags in test/unit/cli. Each test goes on where the one
 * before it has stopped. Margins are minutes: within a shorter one, a run may wait for, and report, a
 * statement of another test on the server that has no default database.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { TABLES } from "../../../src/rollup/coverage.ts";
import { MIN_ROWS } from "../../../src/rollup/size.ts";
import { rollUp } from "../../../src/rollup/write/run.ts";
import { parseLog, runCommand, startCommand } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { startDatabaseProxy } from "../../support/database-proxy.ts";
import { until } from "../../support/poll.ts";
import { addBulk } from "../../support/rollup/bulk.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

const rollup = (...args: string[]) => runCommand("rollup", args, database.url);
const fill = (provider: number, charges: number) =>
  addBulk(database.knex, [{ provider, servers: 3, instances: 4, charges, rentals: 40 }]);

/** A successful comparison whose output is one line. */
const success = (line: string) => ({ code: 0, stderr: "", stdout: line });

/** A run, and the lines of its log. */
async function run(...args: string[]) {
  const { code, stdout, stderr } = await rollup(...args);
  return { code, stderr, log: parseLog(stdout) };
}
const ended = { level: "info", time: expect.stringMatching(/Z$/), msg: "run ended" };
const added = (charges: number, providers: number) => ({
  code: 0,
  stderr: "",
  log: [{ ...ended, charges, providers, small: 1, behind: 0, repairs: 0, ms: expect.any(Number) }],
});

it("adds every charge once, and accepts a provider without charges, and one that is too small for a rollup", async () => {
  await fill(1, MIN_ROWS);
  await fill(2, MIN_ROWS);
  await database.knex("providers").insert({ id: 3, name: "new" });
  await fill(5, MIN_ROWS - 1);
  expect(await rollup("--verify")).toEqual(
    success("there is no rollup to compare, 2 providers without a rollup\n"),
  );
  expect(await run()).toEqual(added(2 * MIN_ROWS, 4));
});

it("warns where the server refuses to wait for its cluster, and runs on", async () => {
  const [wsrep] = await database.knex.raw("SHOW VARIABLES LIKE 'wsrep_sync_wait'");
  // Both names are as long as those that no server knows.
  const proxy = await startDatabaseProxy(database.url, (sent) => {
    const at = sent.indexOf("SET SESSION wsrep_sync_wait");
    const other = sent.indexOf("SET SESSION group_replication_consistency");
    if (at >= 0 || other >= 0) sent.write("SET SESSION x", Math.max(at, other));
    return false;
  });
  const command = startCommand("rollup", ["--watch", "0.1"], proxy.url);
  await until(() => command.lines().length > 0);
  command.signal("SIGTERM");
  const { code, stdout, stderr } = await command.ended;
  await proxy.close();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const warnings = parseLog(stdout).filter(({ level }) => level === "warn");
  const warning = {
    level: "warn",
    time: expect.any(String),
    msg: "warning",
    warning: expect.stringMatching(
      /^cannot set wsrep_sync_wait, so the rollup may read a node that lags: /,
    ),
  };
  // MySQL has the variable of a group in a server that is in none, which is not told to wait.
  expect(warnings).toEqual(wsrep.length > 0 ? [warning] : []);
});

it("leaves out what was recorded within the margin, by default 15 minutes", async () => {
  await database.knex.raw("UPDATE rollups SET watermark = NOW(3) - INTERVAL 1 HOUR");
  for (const minutes of [10, 16]) {
    await database.knex.raw(
      `INSERT INTO charges (provider_id, server_id, charged_at, gross, recorded_at)
       VALUES (2, 2001, '2025-01-05', 5, NOW(3) - INTERVAL ? MINUTE)`,
      [minutes],
    );
  }
  expect(await run()).toEqual(added(1, 4));
  expect(await run("--margin", "300")).toEqual(added(1, 4));
});

it("repairs differences, and reports them as errors", async () => {
  await database
    .knex("rollups")
    .where({ provider_id: 2 })
    .update({ watermark: "9000-01-01 00:00:00.000" });
  const { code, log } = await run();
  expect(code).toBe(0);
  expect(log).toMatchObject([
    {
      ...{ level: "error", msg: "a rollup was repaired", providerId: "2" },
      ...{ from: "9000-01-01 00:00:00.000", cause: "future watermark" },
      difference: "none in answers: they were read from the ledger",
    },
    { ...ended, charges: MIN_ROWS + 1, repairs: 1 },
  ]);
});

it("a repair tells what is known of answers where it does not know the difference", async () => {
  const sums = () => database.knex(TABLES.sums).where({ provider_id: 2 }).orderBy("at", "desc");
  await sums().where({ server_id: 2_001 }).limit(1).increment("gross", 0.01);
  const { code, log } = await run("--check-period", "0");
  expect(code).toBe(0);
  expect(log[0]).toMatchObject({
    ...{ level: "error", msg: "a rollup was repaired", cause: "damaged rollup" },
    difference: expect.stringMatching(
      /^not counted, owners together had 0.01 of gross more than the whole: answers that compare .* read from the ledger/,
    ),
  });
});

it("--verify prints differences; with --repair it removes them, and says from what", async () => {
  const charges = database.knex("charges").where({ provider_id: 2 }).orderBy("charged_at");
  await charges.limit(1).update({ gross: database.knex.raw("gross + 0.01") });
  const verified = await rollup("--verify", "--repair");
  const line = (owner: string, gross: string) =>
    expect.stringMatching(
      `^provider 2, \\S+ \\S+ to \\S+ \\S+, ${owner}: the rollup differs from the ledger by ${gross} of gross$`,
    );
  expect(verified.code).toBe(1);
  expect(verified.stdout.trimEnd().split("\n")).toEqual([
    line("server \\d+, instance \\d+", "-0.01"),
    line("as a whole", "-0.01"),
    "2 differences",
    expect.stringMatching(
      /^0 charges added, 4 providers up to date, 1 too small for a rollup, .* s, 1 difference repaired$/,
    ),
  ]);
  expect(verified.stderr).toMatch(
    /^error: provider 2, .*: repaired by \S+ of gross \(cause: .*\n$/,
  );
});

it("--rebuild builds every rollup again", async () => {
  await database.knex(TABLES.sums).where({ provider_id: 2 }).limit(1).increment("gross", 0.01);
  expect(await run("--rebuild")).toEqual(added(2 * MIN_ROWS + 1, 4));
  expect(await rollup("--verify")).toEqual(success("the rollups agree with the ledger\n"));
});

it("a signal in the middle of a build ends it, with 1 if more is to do, and the next run goes on", async () => {
  await fill(4, 10_000);
  const sums = database.knex(TABLES.sums).where({ provider_id: 4 });
  const first = startCommand("rollup", [], database.url);
  await until(async () => (await sums.clone().first()) !== undefined);
  first.signal("SIGINT");
  const ending = await first.ended;
  const { behind, charges } = parseLog(ending.stdout).at(-1) ?? {};
  expect(ending).toMatchObject({ code: behind === 0 ? 0 : 1, stderr: "" });
  // One more is that of provider 2 which was within the margin.
  const added = Number(charges);
  expect(await rollUp(database.knex, { margin: 0 })).toMatchObject({ charges: 10_001 - added });
});

it("flags that contradict each other are a mistake", async () => {
  const { code, stdout, stderr } = await rollup("--verify", "--watch", "30");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("error: option '--verify' cannot be used with option '--watch <");
});
