/** `npm run rollup` on a larger ledger: killed during a build, and run concurrently. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { TABLES } from "../../../src/rollup/coverage.ts";
import { type Ending, runRollup, startRollup } from "../../support/commands/rollup-process.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { addBulk } from "../../support/rollup/bulk.ts";

/** Enough charges that a build takes seconds. */
const MANY = 60_000;
const FEWER = 15_000;

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

const fill = (charges: number) =>
  addBulk(database.knex, [{ provider: 1, servers: 10, instances: 20, charges, rentals: 500 }]);
/** Resolves when the build has made its first step. */
const untilBuilding = () =>
  until(30_000, async () => (await database.knex(TABLES.sums).first()) !== undefined);
const added = ({ stdout }: Ending) => Number(/(\d+) charges added/.exec(stdout)?.[1]);
const verified = { code: 0, stdout: "the rollups agree with the ledger\n", stderr: "" };

it("a killed build is resumed after its last step", async () => {
  await fill(MANY);
  const first = startRollup(database.url);
  await untilBuilding();
  first.signal("SIGKILL");
  expect(await first.ended).toMatchObject({ signal: "SIGKILL", stdout: "" });
  const second = await runRollup(database.url);
  expect(second).toMatchObject({ code: 0, stderr: "" });
  expect(added(second)).toBeGreaterThan(0);
  expect(added(second)).toBeLessThan(MANY);
  expect(await runRollup(database.url, "--verify")).toMatchObject(verified);
});

it("a build that receives SIGTERM exits with 0, and is resumed", async () => {
  await fill(FEWER);
  const first = startRollup(database.url);
  await untilBuilding();
  first.signal("SIGTERM");
  const ending = await first.ended;
  expect(ending).toMatchObject({ code: 0, stderr: "" });
  const second = await runRollup(database.url);
  expect(added(ending) + added(second)).toBe(FEWER);
  expect(await runRollup(database.url, "--verify")).toMatchObject(verified);
});

it.each([[[]], [["--rebuild"]]])("two concurrent runs with %j both exit with 0", async (args) => {
  await fill(FEWER);
  const endings = await Promise.all([1, 2].map(() => runRollup(database.url, ...args)));
  for (const ending of endings) expect(ending).toMatchObject({ code: 0, stderr: "" });
  expect(await runRollup(database.url, "--verify")).toMatchObject(verified);
});
