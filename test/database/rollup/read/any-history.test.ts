/**
 * Random histories: writers that keep to what is assumed of them, and rollup commands, in any
 * order. After each step a service, which keeps its cached sums, is asked for an overview, and for periods
 * that begin and end at the first or the last instant of all, at boundaries, or a millisecond beside
 * these. Every answer is compared with the sums of the rows, and at the end what is stored.
 */
import fc from "fast-check";
import type { Knex } from "knex";
import { beforeAll, expect, it } from "vitest";
import { toDatetime } from "../../../../src/db/datetime.ts";
import { createRead } from "../../../../src/db/query.ts";
import { TABLES } from "../../../../src/rollup/coverage.ts";
import { ALL_LENGTHS } from "../../../../src/rollup/stretches.ts";
import { buildStep } from "../../../../src/rollup/write/build.ts";
import { checkSlice } from "../../../../src/rollup/write/check.ts";
import { refresh } from "../../../../src/rollup/write/refresh.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { createExactService } from "../../../support/ledger/exact.ts";
import { requested } from "../../../support/ledger/periods.ts";
import { readLedger } from "../../../support/ledger/store.ts";
import { SOAK } from "../../../support/soak.ts";
import { databaseOfFile, deleteRows, LEDGER } from "../../file-database.ts";
import { begin, build, DAY, finish } from "../write/built.ts";
import { expectStored } from "../write/oracle.ts";

const database = await databaseOfFile();
beforeAll(async () => {
  await database.knex("providers").insert({ id: 1, name: "" });
  const server = { provider_id: 1, name: "server", status: "Active", price_per_hour: "1.00" };
  await database.knex("servers").insert([
    { ...server, id: 1, uuid: "1" },
    { ...server, id: 11, uuid: "11" },
    { ...server, id: 12, uuid: "12", deleted_at: "2024-01-01" },
  ]);
  const instance = { provider_id: 1, name: "instance" };
  await database.knex("instances").insert([
    { ...instance, server_id: 1, id: 1, public_id: "1" },
    { ...instance, server_id: 11, id: 2, public_id: "2" },
  ]);
});

const OWNERS = [
  { server_id: 1, instance_id: null },
  { server_id: 1, instance_id: 0 }, // no instance either
  { server_id: 1, instance_id: 1 },
  { server_id: 11, instance_id: 2 },
  { server_id: 12, instance_id: null },
] as const;
const AMOUNTS = ["0.01", "-5.00", "999999999999.99"] as const;
const [FIRST, LAST] = [Date.parse("0001-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59.999Z")];
/** Dates that do not exist, of writers that are not strict about them: the date zero, and some before the first step. */
const INVALID = ["0000-00-00", "2025-00-10", "2025-02-31", "2025-02-30", "2025-03-00"];
/** One date in six does not exist. */
const dateOf = (instant: number, n: number) =>
  n % 6 === 0 ? `${INVALID[(n / 6) % INVALID.length]} 06:00:00.000` : toDatetime(instant);

/**
 * Virtual time, in which rows are recorded; the watermark lies in it too. Each step takes 100 s, so that
 * a leaf of five minutes is three of them.
 */
const at = (step: number) => Date.parse("2025-03-01T00:00:00Z") + 100_000 * step;

/** Instants that often coincide with each other, with boundaries and with the watermark. */
const anyInstant = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(FIRST, FIRST + 1, LAST - 1, LAST) },
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.integer({ min: -10, max: 25 }), fc.constantFrom(-1, 0, 0, 0, 1))
      .map(([second, ms]) => at(second) + ms),
  },
);

interface Step {
  readonly name: keyof typeof STEPS;
  readonly instants: readonly number[];
  readonly n: number;
}

/** What a step does at a second. `n` decides what it leaves open. */
type Perform = (knex: Knex, second: number, step: Step) => Promise<unknown>;

const ownerOf = (n: number) => ({ provider_id: 1, ...OWNERS[n % OWNERS.length] });

const STEPS = {
  charges: (knex, second, { instants, n }) =>
    knex("charges").insert(
      instants.map((instant, index) => ({
        ...ownerOf(n + index),
        charged_at: dateOf(instant, n + index),
        recorded_at: toDatetime(at(second)),
        gross: AMOUNTS[(n + index) % 3],
      })),
    ),
  rentals: (knex, second, { instants, n }) =>
    knex("rentals").insert(
      instants.map((instant, index) => ({
        ...ownerOf(n + index),
        started_at: dateOf(instant, n + index),
        // Some of them end before they start: these never ran.
        ended_at:
          (n + index) % 3 === 0 ? null : dateOf(instants[index - 1] ?? instant, n + 2 * index),
        updated_at: toDatetime(at(second)),
      })),
    ),
  rentalsEnd: (knex, second, { n }) =>
    knex("rentals")
      .whereNull("ended_at")
      .whereRaw("id % 2 = ?", [n % 2])
      .update({
        ended_at: knex.raw("GREATEST(started_at, ?)", [toDatetime(at(second - (n % 4)))]),
        updated_at: toDatetime(at(second)),
      }),
  /** Rentals whose end lies ahead of now, and so of every watermark, may still be changed. */
  rentalsChange: (knex, second, { n }) =>
    knex("rentals")
      .where("ended_at", ">", toDatetime(at(second)))
      .whereRaw("id % 2 = ?", [n % 2])
      .update({
        ended_at: n % 3 === 0 ? null : toDatetime(at(second + (n % 3))),
        updated_at: toDatetime(at(second)),
      }),
  async refresh(knex, second, { n }) {
    const rollup = await knex(TABLES.rollups).where({ building: 0 }).first();
    const until = toDatetime(at(second - (n % 3)));
    if (rollup) await refresh(knex, "1", until);
  },
  build: (knex, second, { n }) =>
    build(knex, "1", toDatetime(at(second - (n % 2))), ALL_LENGTHS[n % ALL_LENGTHS.length]),
  async beginBuild(knex, second, { n }) {
    await begin(knex, "1", toDatetime(at(second)), ALL_LENGTHS[n % 3] ?? DAY);
    for (let step = 0; step <= n % 4; step++) {
      await buildStep(knex, "1", toDatetime(at(second)));
    }
  },
  /** The clock of the run that completes a build may be behind that of the last refresh. */
  goOn: async (knex, second, { n }) => {
    const begun = await knex(TABLES.rollups).where({ building: 1 }).first();
    if (begun) await finish(knex, "1", toDatetime(at(second - (n % 4))));
  },
  async check(knex, _, { n }) {
    for (let slice = 0; slice < 4; slice++) {
      const { repair } = await checkSlice(knex, "1", { period: 1, rows: 1 + (n % 20) });
      expect(repair).toBeUndefined();
    }
  },
  rollupIsDropped: (knex) => knex(TABLES.rollups).del(),
} satisfies Record<string, Perform>;

const COMMON = ["charges", "charges", "rentals", "refresh", "refresh"];
const anyStep = fc.record({
  name: fc.constantFrom(...([...COMMON, ...Object.keys(STEPS)] as Step["name"][])),
  instants: fc.array(anyInstant, { minLength: 1, maxLength: 8 }),
  n: fc.nat(1_000),
});
/** Zones with half and quarter hours, summer time, a day that never was, seconds, and midnights that come twice. */
const ZONES = [
  "UTC",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "America/New_York",
  "America/St_Johns",
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Africa/Monrovia",
];
/** A period, and how far each end moves per step: a later period may use the cached sums. */
const anyPeriod = fc.tuple(
  fc.tuple(anyInstant, anyInstant).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const),
  fc.tuple(fc.constantFrom(0, 0, 1, 1_000), fc.constantFrom(0, 0, 1, 1_000)),
  fc.constantFrom(...ZONES),
);
const ALL_OF_TIME = [[FIRST, LAST], [0, 0], "UTC"] as const;
const anySteps = fc.array(anyStep, { minLength: 8, maxLength: 16 });
const anyPeriods = fc.array(anyPeriod, { minLength: 4, maxLength: 4 });
type Periods = typeof anyPeriods extends fc.Arbitrary<infer Value> ? Value : never;

/** Takes the steps, and compares all answers after each. */
async function replay(steps: readonly Step[], periods: Periods): Promise<void> {
  const { knex } = database;
  await deleteRows(knex, LEDGER);
  const service = createExactService(createRead(knex));
  for (const [second, step] of steps.entries()) {
    await STEPS[step.name](knex, second, step);
    const ledger = await knex.transaction((reader) => readLedger(reader, "1"));
    const now = new Date(at(second)).toISOString();
    await service.overview(ledger, now);
    for (const [[from, to], [moveFrom, moveTo], zone] of [...periods, ALL_OF_TIME]) {
      const last = Math.min(to + second * moveTo, LAST);
      const first = Math.min(from + second * moveFrom, last);
      const ends = [first, last].map((ms) => new Date(ms).toISOString());
      const period = requested(...(ends as [string, string]), now);
      await service.breakdown(ledger, now, period, zone);
      await service.row(ledger, now, period);
    }
  }
  expect(await Array.fromAsync(verify(knex, "1"))).toEqual([]);
  if (await knex(TABLES.rollups).where({ building: 0 }).first()) await expectStored(knex);
}

it("answers are exact after any history", async () => {
  await fc.assert(fc.asyncProperty(anySteps, anyPeriods, replay), { numRuns: 6 * SOAK });
});
