/**
 * Days and periods in every zone of the runtime, around its changes of clocks, without a rollup and with those of
 * each kind; and days up to now, on a day on which clocks change, from a rollup that goes on to that day. Each answer
 * is compared with the sums of the ledger's rows.
 */
import { afterEach, describe, expect, it } from "vitest";
import { createRandom } from "../../../dev/random.ts";
import { createRead } from "../../../src/db/query.ts";
import { createExactService } from "../../support/ledger/exact.ts";
import { type Charge, emptyLedger, type Ledger, type Rental } from "../../support/ledger/ledger.ts";
import { storeLedgers } from "../../support/ledger/store.ts";
import { SEED, SEEDED } from "../../support/seed.ts";
import { SOAK } from "../../support/soak.ts";
import { databaseOfFile, deleteRows, ROLLUPS } from "../file-database.ts";
import { build, FIVE_MINUTES, refreshTo } from "../rollup/write/built.ts";

const database = await databaseOfFile();
const { knex } = database;
afterEach(() => deleteRows(knex, ROLLUPS));

const [FIRST, LAST] = [Date.UTC(1995, 0), Date.UTC(2036, 0)];
const NOW = "2035-12-31T12:00:00.000Z";
const [QUARTER, HOUR, DAY] = [900_000, 3_600_000, 86_400_000];
const iso = (instant: number) => new Date(instant).toISOString();
const { integer: between, pick, happens } = createRandom(SEED);

/** How a zone changes its clocks: instants and offsets in turn, the first offset first. */
function rulesOf(zone: string): (number | string)[] {
  const first = Temporal.Instant.fromEpochMilliseconds(FIRST).toZonedDateTimeISO(zone);
  const rules: (number | string)[] = [first.offset];
  for (let at = first.getTimeZoneTransition("next"); at && at.epochMilliseconds <= LAST; ) {
    rules.push(at.epochMilliseconds, at.offset);
    at = at.getTimeZoneTransition("next");
  }
  return rules;
}

/** Of the zones that have the same rules, each run asks for one. */
const ZONES = Map.groupBy(Intl.supportedValuesOf("timeZone"), (zone) => `${rulesOf(zone)}`)
  .values()
  .map(pick)
  .toArray();
const CHANGES = new Map(
  ZONES.map((zone) => [zone, rulesOf(zone).filter((rule) => typeof rule === "number")]),
);
/** Zones whose days begin at 00:00 UTC before or after a change, at each hour there is, and at each quarter of one. */
const STARTS = [
  ...["Europe/London", "Africa/Casablanca", "Atlantic/Azores", "America/Scoresbysund"],
  ...Array.from({ length: 27 }, (_, nth) => `Etc/GMT${nth < 13 ? "+" : "-"}${Math.abs(12 - nth)}`),
  ...["Asia/Kolkata", "Asia/Kathmandu", "Australia/Eucla", "Pacific/Chatham", "Pacific/Marquesas"],
];
const ODD = [
  // Without a 30 December 2011: another day has room in the longest period.
  ["Pacific/Apia", "2011-06-01", "2012-07-05"],
  // Days that began at 00:44:30 UTC, within a quarter of an hour.
  ["Africa/Monrovia", "1971-12-28", "1972-01-02"],
] as const;
const IN_QUARTER = ["14", "29.999", "30", "45"].map((s) => Date.parse(`1971-12-30T00:44:${s}Z`));
/** Some of the changes of all zones, other ones in each run. */
const MARKS = Array.from({ length: 20 }, () => pick(CHANGES.values().toArray().flat()));

/** Mostly at a change of some zone's clocks or at a quarter hour, or a millisecond beside it. */
function anyInstant(): number {
  const near = pick(MARKS) + QUARTER * between(-8, 9);
  const mark = happens(0.95) ? near : QUARTER * between(FIRST / QUARTER, LAST / QUARTER);
  return mark + pick([-1, 0, 0, 1, between(0, QUARTER)]);
}

/** Clocks go forward in Europe, and back; the watermarks are at noon of these days, which the database's clock has passed. */
const [SPRING, AUTUMN] = ["2025-03-30", "2025-10-26"];
/** On these days, and on those before, each quarter of an hour has a charge. */
const quarters = [SPRING, AUTUMN].flatMap((day) =>
  Array.from({ length: 2 * 96 }, (_, nth) => Date.parse(day) - DAY + (nth + 0.5) * QUARTER),
);

const charges = [...Array.from({ length: 1_000 }, anyInstant), ...quarters, ...IN_QUARTER].map(
  (at): Charge => {
    const gross = BigInt(between(-500, 1_500));
    return { server: 1n, instance: null, at: iso(at), gross };
  },
);
const rentals = Array.from({ length: 200 }, (): Rental => {
  const start = anyInstant();
  const end = happens(0.1) ? null : iso(start + between(0, 40 * DAY));
  return { server: 1n, instance: null, startedAt: iso(start), endedAt: end };
});
const ledger: Ledger = { ...emptyLedger(1n), charges, rentals };
await storeLedgers(knex, [ledger]);
// Half of the rows are recorded behind the watermark of a build.
for (const [table, column] of Object.entries({ charges: "recorded_at", rentals: "updated_at" })) {
  await knex.raw(`UPDATE ${table} SET ${column} = IF(id % 2 = 0, '2020-01-01', '2021-01-01')`);
}

const dateOf = (at: number, zone: string) =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate();

/** Days, the first and the last or those after them where a zone left them out, and the instants that they stand for. */
function periodOf(first: Temporal.PlainDate, last: Temporal.PlainDate, zone: string) {
  const [start, end] = [first.toZonedDateTime(zone), last.toZonedDateTime(zone)];
  const startDate = `${start.toPlainDate()}`;
  const endDate = end.toPlainDate();
  const next = endDate.add({ days: 1 }).toZonedDateTime(zone);
  const resolved = { start: iso(start.epochMilliseconds), end: iso(next.epochMilliseconds - 1) };
  return { startDate, endDate: `${endDate}`, resolved };
}

/** A random period of up to 400 days. */
function anyPeriod(zone: string) {
  const changes = CHANGES.get(zone) ?? [];
  const date = dateOf(pick([changes.length > 0 ? pick(changes) : FIRST, pick(MARKS)]), zone);
  const startDate = date.subtract({ days: pick([0, 1, 1, 2, 30, between(0, 200)]) });
  return periodOf(startDate, date.add({ days: pick([0, 1, 1, 2, between(0, 190)]) }), zone);
}

const KINDS = [
  ["no rollup", undefined, SPRING],
  ["leaves of a day", "P1D", SPRING],
  ["leaves of 16 days", "P16D", AUTUMN],
  ["leaves of five minutes", FIVE_MINUTES, AUTUMN],
] as const;

describe.each(KINDS)("with %s", (name, leaf, day) => {
  // Without a soak, each zone is asked for with one of them.
  const nth = KINDS.findIndex(([each]) => each === name);
  const zones = ZONES.filter((_, place) => SOAK > 1 || place % KINDS.length === nth);

  it(`answers are exact in every zone ${SEEDED}`, async () => {
    if (leaf !== undefined) {
      // From there on, five minutes are too many leaves for a refresh.
      const built = leaf === FIVE_MINUTES ? `${day} 09:00:00.000` : "2020-06-01 00:00:00.000";
      await build(knex, "1", built, leaf);
      await refreshTo(knex, "1", `${day} 12:00:00.000`);
    }
    const service = createExactService(createRead(knex));
    const askAll = async (now: string, period: ReturnType<typeof periodOf>, zone: string) => {
      const statements = await service.breakdown(ledger, now, period, zone);
      expect(statements.includes("rawBreakdown")).toBe(leaf === undefined);
      await service.charges(1_000, ledger, now, period, zone);
      await service.row(ledger, now, period, zone);
    };
    for (const zone of zones) {
      for (let made = 0; made < SOAK; made++) await askAll(NOW, anyPeriod(zone), zone);
    }
    // The days up to now, which is meant or said.
    for (const zone of STARTS) {
      const now = Date.parse(`${day}T12:00:00Z`) + between(0, 11 * HOUR);
      const first = dateOf(now - 9 * DAY, zone);
      const { startDate, resolved } = periodOf(first, first, zone);
      const period = { startDate, endDate: pick(["", iso(now)]) };
      const asked = { ...period, resolved: { ...resolved, end: iso(now) } };
      await service.breakdown(ledger, iso(now), asked, zone);
    }
    for (const [zone, ...ends] of ODD) {
      const [first, last] = ends.map((date) => Temporal.PlainDate.from(date));
      if (first && last) await askAll(NOW, periodOf(first, last, zone), zone);
    }
  });
});
