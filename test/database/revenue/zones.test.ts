/**
 * Days and periods in time zones: every zone of the runtime, with dates around its changes of clocks, without a rollup
 * and with either kind. Each answer is compared with the sums of the ledger's rows.
 */
import { afterEach, describe, expect, it } from "vitest";
import { createRandom } from "../../../dev/random.ts";
import { toDatetime } from "../../../src/db/datetime.ts";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { refresh } from "../../../src/rollup/write/refresh.ts";
import type { expectedBreakdown } from "../../support/ledger/breakdown-oracle.ts";
import { atTimeOfCall, breakdownOf, dailyOf } from "../../support/ledger/call.ts";
import type { expectedDaily } from "../../support/ledger/daily-oracle.ts";
import { createExactService } from "../../support/ledger/exact.ts";
import { type Charge, emptyLedger, type Ledger, type Rental } from "../../support/ledger/ledger.ts";
import { storeLedgers } from "../../support/ledger/store.ts";
import { SEED, SEEDED } from "../../support/seed.ts";
import { SOAK } from "../../support/soak.ts";
import { databaseOfFile, deleteRows, ROLLUPS } from "../file-database.ts";
import { build, FIVE_MINUTES } from "../rollup/write/built.ts";

const database = await databaseOfFile();
const { knex } = database;
afterEach(() => deleteRows(knex, ROLLUPS));

const [FIRST, LAST] = [Date.UTC(1995, 0), Date.UTC(2036, 0)];
const NOW = "2035-12-31T12:00:00.000Z";
const QUARTER = 900_000;
const DAY = 86_400_000;
const iso = (instant: number) => new Date(instant).toISOString();
const { integer: between, pick, happens } = createRandom(SEED);

/** The instants at which a zone changes its clocks. */
function changesOf(zone: string): number[] {
  const changes: number[] = [];
  let at = Temporal.Instant.fromEpochMilliseconds(FIRST).toZonedDateTimeISO(zone);
  for (;;) {
    const next = at.getTimeZoneTransition("next");
    if (next === null || next.epochMilliseconds > LAST) return changes;
    changes.push(next.epochMilliseconds);
    at = next;
  }
}

const ZONES = Intl.supportedValuesOf("timeZone");
const CHANGES = new Map(ZONES.map((zone) => [zone, changesOf(zone)]));
/**
 * Zones whose days begin at one time in 2016: at each hour there is, so also where six hours of a rollup begin with the
 * day, and at each quarter of an hour.
 */
const FIXED = [
  ...Array.from({ length: 27 }, (_, nth) => `Etc/GMT${nth < 13 ? "+" : "-"}${Math.abs(12 - nth)}`),
  ...["Asia/Kolkata", "Asia/Kathmandu", "Australia/Eucla", "Pacific/Chatham", "Pacific/Marquesas"],
];
/** Some of the changes of all zones, other ones in each run. */
const MARKS = Array.from({ length: 20 }, () => pick(CHANGES.values().toArray().flat()));

/** Mostly at a change of some zone's clocks or at a quarter hour, or a millisecond beside it. */
function anyInstant(): number {
  const near = pick(MARKS) + QUARTER * between(-8, 9);
  const mark = happens(0.95) ? near : QUARTER * between(FIRST / QUARTER, LAST / QUARTER);
  return mark + pick([-1, 0, 0, 1, between(0, QUARTER)]);
}

/** A week in which each quarter of an hour has a charge. */
const WEEK = Date.parse("2016-03-01");
const quarters = Array.from({ length: 7 * 96 }, (_, nth) => WEEK + (nth + 0.5) * QUARTER);

const charges = [...Array.from({ length: 1_500 }, anyInstant), ...quarters].map((at): Charge => {
  const gross = BigInt(between(-500, 1_500));
  return { server: 1n, instance: null, at: iso(at), gross };
});
const rentals = Array.from({ length: 200 }, (): Rental => {
  const start = anyInstant();
  const end = happens(0.1) ? null : iso(start + between(0, 40 * DAY));
  return { server: 1n, instance: null, startedAt: iso(start), endedAt: end };
});
const ledger: Ledger = { ...emptyLedger(1n), charges, rentals };

const HALVES = ["recorded_at", "updated_at"] as const;
/** Half of the rows are recorded behind the watermark. */
const [EARLY, WATERMARK, LATER, FINAL] = [
  "2020-01-01 00:00:00.000",
  "2020-06-01 00:00:00.000",
  "2021-01-01 00:00:00.000",
  "2030-06-01 00:00:00.000",
];
async function record(): Promise<void> {
  await storeLedgers(knex, [ledger]);
  for (const [nth, table] of (["charges", "rentals"] as const).entries()) {
    const column = HALVES[nth] as string;
    await knex.raw(`UPDATE ${table} SET ${column} = IF(id % 2 = 0, ?, ?)`, [EARLY, LATER]);
  }
}
await record();

/** Days of a zone, the first and the last, and the instants that they stand for. */
function periodOf(startDate: Temporal.PlainDate, endDate: Temporal.PlainDate, zone: string) {
  const firstOf = (day: Temporal.PlainDate) => day.toZonedDateTime(zone).epochMilliseconds;
  const start = iso(firstOf(startDate));
  const end = iso(firstOf(endDate.add({ days: 1 })) - 1);
  return { startDate: `${startDate}`, endDate: `${endDate}`, resolved: { start, end } };
}

/** A random period of up to 400 days. */
function anyPeriod(zone: string) {
  const changes = CHANGES.get(zone) ?? [];
  const middle = pick([changes.length > 0 ? pick(changes) : FIRST, pick(MARKS), pick(MARKS)]);
  const date = Temporal.Instant.fromEpochMilliseconds(middle)
    .toZonedDateTimeISO(zone)
    .toPlainDate();
  const startDate = date.subtract({ days: pick([0, 1, 1, 2, 30, between(0, 200)]) });
  const endDate = date.add({ days: pick([0, 1, 1, 2, between(0, 190)]) });
  return periodOf(startDate, endDate, zone);
}

/** Whether a zone has the day. */
const exists = (date: string, zone: string) =>
  Temporal.PlainDate.from(date).toZonedDateTime(zone).toPlainDate().toString() === date;

const KINDS = [
  ["without a rollup", undefined],
  ["with leaves of a day", "P1D"],
  ["with leaves of 16 days", "P16D"],
  ["with leaves of five minutes", FIVE_MINUTES],
] as const;

describe.each(KINDS)("%s", (name, leaf) => {
  // Without a soak, each zone is asked for with one of them.
  const nth = KINDS.findIndex(([each]) => each === name);
  const zones = ZONES.filter((_, place) => SOAK > 1 || place % KINDS.length === nth);

  it(`answers are exact in every zone ${SEEDED}`, async () => {
    if (leaf !== undefined) {
      await build(knex, "1", WATERMARK, leaf);
      await refresh(knex, "1", FINAL);
    }
    const service = createExactService(createRead(knex));
    for (const zone of zones) {
      for (let made = 0; made < SOAK; made++) {
        const period = anyPeriod(zone);
        if (exists(period.startDate, zone) && exists(period.endDate, zone)) {
          await service.breakdown(ledger, NOW, period, zone);
        }
      }
    }
    for (const zone of FIXED) {
      const [from, to] = ["2016-03-02", "2016-03-05"].map((date) => Temporal.PlainDate.from(date));
      const period = periodOf(from as Temporal.PlainDate, to as Temporal.PlainDate, zone);
      await service.breakdown(ledger, NOW, period, zone);
    }
  });
});

const service = createRevenueService(atTimeOfCall(createRead(knex)));

it("the days of a month add up to the month, in any zone", async () => {
  for (const zone of ["Asia/Kolkata", "America/New_York", "Pacific/Apia", "Australia/Lord_Howe"]) {
    const call = [service, 1n, NOW, "2011-12-01", "2011-12-31", zone] as const;
    const days = (await dailyOf(...call)) as ReturnType<typeof expectedDaily> & object;
    const month = (await breakdownOf(...call)) as ReturnType<typeof expectedBreakdown>;
    const cents = ({ value }: { readonly value: string }) => BigInt(value.replace(".", ""));
    const sum = days.days.reduce((total, { grossRevenue }) => total + cents(grossRevenue), 0n);
    expect(sum).toBe(cents(month.totalRevenue));
  }
});

it.each([
  [
    "Samoa had no 30 December 2011",
    "Pacific/Apia",
    "2011-12-29",
    "2011-12-31",
    ["2011-12-29 24", "2011-12-31 24"],
  ],
  [
    "a day of spring has 23 hours",
    "Europe/Berlin",
    "2026-03-28",
    "2026-03-30",
    ["2026-03-28 24", "2026-03-29 23", "2026-03-30 24"],
  ],
  [
    "a day of autumn has 25 hours",
    "America/New_York",
    "2026-11-01",
    "2026-11-01",
    ["2026-11-01 25"],
  ],
  [
    "Lord Howe changes by half an hour",
    "Australia/Lord_Howe",
    "2026-04-05",
    "2026-04-05",
    ["2026-04-05 24.5"],
  ],
  [
    "a midnight that is skipped",
    "America/Sao_Paulo",
    "2018-11-04",
    "2018-11-04",
    ["2018-11-04 23"],
  ],
  [
    "a midnight that comes twice",
    "America/St_Johns",
    "2010-11-06",
    "2010-11-08",
    ["2010-11-06 24", "2010-11-07 25", "2010-11-08 24"],
  ],
  [
    "seconds of local mean time",
    "Africa/Monrovia",
    "1972-01-06",
    "1972-01-08",
    ["1972-01-06 24", "1972-01-07 23.25833333333333", "1972-01-08 24"],
  ],
])("%s", async (_name, zone, startDate, endDate, expected) => {
  const answer = await dailyOf(service, 1n, NOW, startDate, endDate, zone);
  const { days } = answer as ReturnType<typeof expectedDaily> & object;
  const lengths = days.map(({ date, startTime, endTime }) => {
    const hours = (Date.parse(endTime) - Date.parse(startTime)) / 3_600_000;
    return `${date} ${Number(hours.toFixed(14))}`;
  });
  expect(lengths).toEqual(expected);
});

it("a day that a zone has left out makes room for another one in the longest period", async () => {
  const zone = "Pacific/Apia";
  const firstOf = (date: string) => Temporal.PlainDate.from(date).toZonedDateTime(zone);
  const [start, after] = [firstOf("2011-06-01"), firstOf("2012-07-06")].map(
    ({ epochMilliseconds }) => epochMilliseconds,
  );
  const resolved = { start: iso(start ?? 0), end: iso((after ?? 0) - 1) };
  const period = { startDate: "2011-06-01", endDate: "2012-07-05", resolved };
  const at = { server: 1n, instance: null, at: resolved.end, gross: 1_000n };
  const extended = { ...ledger, charges: [...charges, at] };
  await storeLedgers(knex, [extended]);
  await createExactService(createRead(knex)).breakdown(extended, NOW, period, zone);
  const { startDate, endDate } = period;
  const answer = await dailyOf(service, 1n, NOW, startDate, endDate, zone);
  const { days } = answer as ReturnType<typeof expectedDaily> & object;
  expect(days).toHaveLength(400);
  await record();
});

it("no more than four times of day begin the days of a period, and all are quarter hours since 1972", async () => {
  const times = new Map<string, Set<number>>();
  for (const zone of ZONES) {
    for (const change of CHANGES.get(zone) ?? []) {
      const date = Temporal.Instant.fromEpochMilliseconds(change)
        .toZonedDateTimeISO(zone)
        .toPlainDate();
      for (let days = -2; days <= 2; days++) {
        const start = date.add({ days }).toZonedDateTime(zone).epochMilliseconds;
        expect(start % QUARTER, `${zone} ${toDatetime(start)}`).toBe(0);
        const year = `${zone} ${Math.floor(start / (401 * DAY))}`;
        times.getOrInsertComputed(year, () => new Set()).add(start % DAY);
      }
    }
  }
  expect(Math.max(...times.values().map(({ size }) => size))).toBeLessThanOrEqual(4);
});
