/**
 * The output and the exit code of `npm run rollup`, and what it does when it is stopped. Its figures
 * are tested in test/database/rollup, its flags in test/unit/cli.
 */
import { afterEach, beforeEach, expect, it } from "vitest";
import { TABLES } from "../../../src/rollup/coverage.ts";
import { rollUp } from "../../../src/rollup/write/run.ts";
import { verify } from "../../../src/rollup/write/verify.ts";
import { runRollup, startRollup } from "../../support/commands/rollup-process.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { addBulk } from "../../support/rollup/bulk.ts";
import { expectExact } from "../../support/rollup/snapshot-oracle.ts";

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

/** A successful ending whose output is one line. */
function success(line: RegExp | string) {
  const text = typeof line === "string" ? line : expect.stringMatching(line);
  return { code: 0, signal: null, stderr: "", stdout: text };
}
const added = (charges: number, providers: number) =>
  success(
    new RegExp(`^${charges} charges added, ${providers} providers up to date, [\\d.]+ s\\n$`),
  );

it("adds every charge once, and accepts a provider without charges", async () => {
  await fill([1, 2]);
  await database.knex("providers").insert({ id: 3, name: "new" });
  expect(await rollup("--verify")).toEqual(
    success("there is no rollup to compare, 2 providers without a rollup\n"),
  );
  expect(await rollup("--margin", "0")).toEqual(added(2_000, 3));
  expect(await rollup("--verify")).toEqual(success("the rollups agree with the ledger\n"));
});

it("leaves out what was recorded within the margin, by default 15 minutes", async () => {
  await fill([1]);
  await rollUp(database.knex, { margin: 0 });
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
});

it("repairs differences, and reports them as errors", async () => {
  await fill([1]);
  await rollUp(database.knex, { margin: 0 });
  await database.knex("rollups").update({ watermark: "9000-01-01 00:00:00.000" });
  const { code, stdout, stderr } = await rollup();
  expect(code).toBe(0);
  expect(stdout).toMatch(/^1000 charges added, .* s, 1 difference repaired\n$/);
  expect(stderr).toBe(
    "error: provider 1: the watermark 9000-01-01 00:00:00.000 lay in the future (cause: future watermark); the rollup is built again\n",
  );
});

it("--verify prints differences; with --repair it removes them, and says from what", async () => {
  await fill([1]);
  await rollUp(database.knex, { margin: 0 });
  const sums = () => database.knex(TABLES.sums).where({ provider_id: 1 }).orderBy("at", "desc");
  await sums().where({ server_id: 1_001 }).limit(1).increment("gross", 0.01);
  await sums().where({ total: 1 }).limit(1).increment("gross", 0.02);
  const verified = await rollup("--verify");
  expect(verified).toMatchObject({ code: 1, stderr: "" });
  const line = (owner: string, gross: string) =>
    expect.stringMatching(
      `^provider 1, \\S+ \\S+ to \\S+ \\S+, ${owner}: the rollup differs from the ledger by ${gross} of gross, 0 charges, 0 starts and 0 ends of rentals$`,
    );
  expect(verified.stdout.trimEnd().split("\n")).toEqual([
    line("server 1001, instance \\d+", "0.01"),
    line("as a whole", "0.02"),
    "2 differences",
  ]);
  const repaired = await rollup("--verify", "--repair");
  expect(repaired.code).toBe(1);
  expect(repaired.stdout).toMatch(
    /\n2 differences\n0 charges added, .* s, 1 difference repaired\n$/,
  );
  expect(repaired.stderr).toMatch(
    /^error: provider 1, .*: repaired by \S+ of gross, 0 charges, .*\n$/,
  );
  expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
});

it("--rebuild builds every rollup again", async () => {
  await fill([1]);
  await rollUp(database.knex, { margin: 0 });
  await database.knex(TABLES.sums).where({ provider_id: 1 }).limit(1).increment("gross", 0.01);
  expect(await rollup("--rebuild")).toEqual(added(1_000, 1));
  expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
});

it("a signal in the middle of a build ends it with 0, and the next run goes on", async () => {
  await fill([1], 10_000);
  const first = startRollup(database.url);
  await until(30_000, async () => (await database.knex(TABLES.sums).first()) !== undefined);
  first.signal("SIGINT");
  const ending = await first.ended;
  expect(ending).toMatchObject({ code: 0, stderr: "" });
  const added = Number(/(\d+) charges added/.exec(ending.stdout)?.[1]);
  expect(await rollUp(database.knex, { margin: 0 })).toMatchObject({ charges: 10_000 - added });
  expect(await Array.fromAsync(verify(database.knex, "1"))).toEqual([]);
});

it.each([
  [["--verify", "--watch", "30"], "error: option '--verify' cannot be used with option '--watch <"],
  [["--repair"], "error: --repair needs --verify"],
])("%j is a mistake", async (args, error) => {
  const { code, stdout, stderr } = await rollup(...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(error);
});
