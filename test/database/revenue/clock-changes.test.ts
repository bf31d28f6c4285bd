/**
 * Days up to now, on a day on which a zone's clocks change, from a rollup that goes on to that day: its
 * last day ends at another time of day (UTC) than it begins.
 */
import { it } from "vitest";
import { createRandom } from "../../../dev/random.ts";
import { toDatetime } from "../../../src/db/datetime.ts";
import { createRead } from "../../../src/db/query.ts";
import { dayAt, startOfDay } from "../../../src/revenue/time-zone.ts";
import { createExactService } from "../../support/ledger/exact.ts";
import { type Charge, emptyLedger, type Ledger } from "../../support/ledger/ledger.ts";
import { storeLedgers } from "../../support/ledger/store.ts";
import { SEED, SEEDED } from "../../support/seed.ts";
import { SOAK } from "../../support/soak.ts";
import { databaseOfFile, LEDGER } from "../file-database.ts";
import { build } from "../rollup/write/built.ts";

const database = await databaseOfFile(LEDGER);
const { knex } = database;

const random = createRandom(SEED);
const [HOUR, DAY] = [3_600_000, 86_400_000];
const iso = (instant: number) => new Date(instant).toISOString();

/** A change of a zone's clocks after an instant. */
function changeAfter(zone: string, after: string): number | undefined {
  const at = Temporal.Instant.from(after).toZonedDateTimeISO(zone);
  return at.getTimeZoneTransition("next")?.epochMilliseconds;
}

/** A charge of another amount every hour, up to now. */
function ledgerUpTo(now: number): Ledger {
  const charges = Array.from({ length: 24 * 12 }, (_, hours): Charge => {
    const at = iso(now - HOUR * hours);
    return { server: 1n, instance: null, gross: BigInt(101 + hours ** 2), at };
  });
  return { ...emptyLedger(1n), charges };
}

/** Their days begin at 00:00 UTC before or after a change. */
const NEAR_UTC = [
  "Europe/London",
  "Europe/Lisbon",
  "Africa/Casablanca",
  "Atlantic/Azores",
  "America/Scoresbysund",
];
const LEAVES = ["P1D", "P1M", "PT3H"] as const;

/** Compares the days of the two changes of a zone in a year with the sums of the rows. */
async function compareDays(zone: string): Promise<void> {
  for (const after of ["2026-01-15T00:00Z", "2026-07-15T00:00Z"]) {
    const change = changeAfter(zone, after);
    if (change === undefined) continue;
    const today = startOfDay(dayAt(change, zone), zone);
    for (const leaf of LEAVES) {
      const now = Math.max(today + 2 * HOUR, change + HOUR * random.integer(0, 20));
      const ledger = ledgerUpTo(now);
      await knex("charges").del();
      await storeLedgers(knex, [ledger]);
      await knex.raw("UPDATE charges SET recorded_at = charged_at");
      await build(knex, "1", toDatetime(now - HOUR / 4), leaf);
      const service = createExactService(createRead(knex));
      const start = startOfDay(dayAt(now - 9 * DAY, zone), zone);
      const startDate = Temporal.Instant.fromEpochMilliseconds(start)
        .toZonedDateTimeISO(zone)
        .toPlainDate();
      for (const endDate of ["", iso(now)]) {
        const resolved = { start: iso(start), end: iso(now) };
        const period = { startDate: `${startDate}`, endDate, resolved };
        await service.breakdown(ledger, iso(now), period, zone);
      }
    }
  }
}

it.each(NEAR_UTC)(`of %s ${SEEDED}`, compareDays);

it(`of other zones ${SEEDED}`, async () => {
  const zones = Intl.supportedValuesOf("timeZone").filter(() => random.happens(0.02 * SOAK));
  for (const zone of zones) await compareDays(zone);
});
