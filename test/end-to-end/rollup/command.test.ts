/** `npm run rollup`: what it says, and with which code it ends. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Ending, runRollup, startRollup } from "../../support/commands/rollup-process.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
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

/** An ending without a complaint, whose output is one line. */
function done(line: RegExp | string) {
  const text = typeof line === "string" ? line : expect.stringMatching(line);
  return { code: 0, signal: null, stderr: "", stdout: text };
}
const took = (charges: number, providers: number) =>
  done(
    new RegExp(`^${charges} charges taken up, ${providers} providers up to date, [\\d.]+ s\\n$`),
  );

describe("bringing the rollups up to date", () => {
  it("a database without providers is no mistake", async () => {
    expect(await rollup()).toEqual(took(0, 0));
    expect(await rollup("--verify")).toEqual(done(CLEAN));
  });

  it("takes up every charge once, also where a provider has nothing", async () => {
    await fill(1, 2);
    await database.knex("providers").insert({ id: 3, name: "newcomer" });
    expect(await rollup()).toEqual(took(2_000, 3));
    expect(await rollup("--margin", "0")).toEqual(took(0, 3));
    expect(await rollup("--verify")).toEqual(done(CLEAN));
    for (const provider of ["1", "2", "3"]) await expectExact(database.knex, provider);
  });

  it("leaves what was recorded within the margin, a minute where none is given", async () => {
    await fill(1);
    await rollup("--margin", "0");
    await database.knex("charges").insert({
      provider_id: 1,
      server_id: 1_001,
      charged_at: "2025-01-05 00:00:00.000",
      gross: "5.00",
    });
    expect(await rollup("--margin", "600")).toEqual(took(0, 1));
    expect(await rollup()).toEqual(took(0, 1));
    await expectExact(database.knex, "1");
    expect(await rollup("--margin", "0")).toEqual(took(1, 1));
    expect(await rollup("--verify")).toEqual(done(CLEAN));
  });
});

describe("--verify and --rebuild", () => {
  it.each([
    {
      table: "rollup_figures",
      says: [
        /^provider 1, checkpoint 9999-12-31 23:59:59\.999: its gross differs from the sum of its figures by -0\.01$/,
        /^provider 1, \S+ \S+ to \S+ \S+, server 1001, instance \d+: the rollup differs from the ledger by 0\.01 of gross, 0 charges, 0 starts and 0 ends of rentals$/,
      ],
    },
    {
      table: "rollup_months",
      says: [/^provider 1, month \d{6}: the rollup differs from the ledger by 0\.01 of gross$/],
    },
  ])("every difference in $table is printed, and mended by a rebuild", async ({ table, says }) => {
    await fill(1, 2);
    await rollup();
    await database
      .knex(table)
      .where({ provider_id: 1, ...(table === "rollup_figures" && { server_id: 1_001 }) })
      .orderBy(table === "rollup_figures" ? "at" : "month", "desc")
      .limit(1)
      .increment("gross", 0.01);
    const { code, stdout, stderr } = await rollup("--verify");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(stdout.trimEnd().split("\n")).toEqual([
      ...says.map((line) => expect.stringMatching(line)),
      expect.stringMatching(/^[12] differences?$/),
    ]);
    expect(await rollup("--rebuild")).toEqual(took(2_000, 2));
    expect(await rollup("--verify")).toEqual(done(CLEAN));
  });

  it("answers stay exact while a rollup is built anew", async () => {
    await fill(1);
    await rollup();
    const rebuilding = rollup("--rebuild");
    let ending: Ending | undefined;
    rebuilding.then((it) => (ending = it));
    let asked = 0;
    for (; ending === undefined; asked++) await expectExact(database.knex, "1");
    expect(await rebuilding).toEqual(took(1_000, 1));
    expect(asked).toBeGreaterThan(1);
    await expectExact(database.knex, "1");
  });
});

describe("--watch", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("goes on until %s, and ends with 0", async (signal) => {
    await fill(1);
    const process = startRollup(database.url, "--margin", "0", "--watch", "0.05");
    await until(20_000, () => process.lines().length >= 3);
    process.signal(signal);
    const { stdout, ...ending } = await process.ended;
    expect(ending).toEqual({ code: 0, signal: null, stderr: "" });
    expect(stdout).toMatch(/^1000 charges taken up, 1 providers up to date, .* s\n0 charges /);
  });

  it("takes up what comes in", async () => {
    await fill(1);
    const process = startRollup(database.url, "--margin", "0", "--watch", "0.05");
    await until(20_000, () => process.lines().length >= 1);
    await addBulk(database.knex, [{ provider: 2, ...SMALL }]);
    await until(20_000, () =>
      process.lines().some((line) => line.startsWith("1000 charges taken up, 2 ")),
    );
    process.signal("SIGTERM");
    expect(await process.ended).toMatchObject({ code: 0 });
  });
});
