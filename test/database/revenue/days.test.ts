/** The days of a period: which they are by default, and which of them are partial, by the database's clock. */
import { expect, it } from "vitest";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { atTimeOfCall, dailyOf } from "../../support/ledger/call.ts";
import { expectedDaily } from "../../support/ledger/daily-oracle.ts";
import { emptyLedger, type Ledger } from "../../support/ledger/ledger.ts";
import { requested, resolvedForDays } from "../../support/ledger/periods.ts";
import { storeLedgers } from "../../support/ledger/store.ts";
import { databaseOfFile } from "../file-database.ts";

const database = await databaseOfFile();

const NOW = "2026-11-20T09:30:00.123Z";

/** A charge at the first and the last instant of each day from some time ago until tomorrow. */
const ledger: Ledger = {
  ...emptyLedger(1n),
  charges: Array.from({ length: 60 }, (_, ago) =>
    Temporal.PlainDate.from("2026-11-21").subtract({ days: ago }),
  ).flatMap((day, ago) =>
    ["00:00:00.000", "23:59:59.999"].map((time) => ({
      server: 1n,
      instance: null,
      gross: BigInt(100 + ago),
      at: `${day}T${time}Z`,
    })),
  ),
};
await storeLedgers(database.knex, [ledger]);
const service = createRevenueService(atTimeOfCall(createRead(database.knex)));

/** The first and the last day of a response, their number, and those that are partial. */
function summary(response: unknown) {
  const { startDate, endDate, days } = response as ReturnType<typeof expectedDaily> & object;
  const partial = days.filter((day) => day.partial).map(({ date }) => date);
  return [startDate, endDate, days.length, ...partial];
}

it.each<[string, string, string, (string | number)[]]>([
  // the default: 30 days, today included
  [NOW, "", "", ["2026-10-22T00:00:00Z", NOW, 30, "2026-11-20"]],
  // an end alone: the 30 days that end there, also long before now and after it
  [NOW, "", "2026-11-19", ["2026-10-21T00:00:00Z", "2026-11-19T23:59:59.999Z", 30]],
  [NOW, "", "2020-03-30", ["2020-03-01T00:00:00Z", "2020-03-30T23:59:59.999Z", 30]],
  [NOW, "", "2026-11-20", ["2026-10-22T00:00:00Z", "2026-11-20T23:59:59.999Z", 30, "2026-11-20"]],
  [NOW, "", "0001-01-05", ["0001-01-01T00:00:00Z", "0001-01-05T23:59:59.999Z", 5]],
  [
    NOW,
    "",
    "2026-11-19T12:00:00Z",
    ["2026-10-21T00:00:00Z", "2026-11-19T12:00:00Z", 30, "2026-11-19"],
  ],
  // a start alone: up to now
  [NOW, "2026-11-19", "", ["2026-11-19T00:00:00Z", NOW, 2, "2026-11-20"]],
  // times are exact
  [
    NOW,
    "2026-11-17T00:00:00.001Z",
    "2026-11-19T23:59:59.998Z",
    ["2026-11-17T00:00:00.001Z", "2026-11-19T23:59:59.998Z", 3, "2026-11-17", "2026-11-19"],
  ],
  // the edges of today
  [
    "2026-11-20T00:00:00.000Z",
    "2026-11-19",
    "",
    ["2026-11-19T00:00:00Z", "2026-11-20T00:00:00Z", 2, "2026-11-20"],
  ],
  [
    "2026-11-19T23:59:59.999Z",
    "",
    "2026-11-19",
    ["2026-10-21T00:00:00Z", "2026-11-19T23:59:59.999Z", 30, "2026-11-19"],
  ],
])("at %s the period from %j to %j is %j", async (now, startDate, endDate, expected) => {
  const response = await dailyOf(service, 1n, now, startDate, endDate);
  expect(summary(response)).toEqual(expected);
  const [start, end] = [startDate, endDate].map((date, nth) =>
    date.length === 10 ? `${date}T${nth === 0 ? "00:00:00.000" : "23:59:59.999"}Z` : date,
  ) as [string, string];
  const resolved = resolvedForDays(requested(start, end, now));
  expect(response).toEqual(expectedDaily(ledger, resolved, now));
});
