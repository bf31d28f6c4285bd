/** The periods of the page's buttons, and days and instants in time zones. */
import { expect, it } from "vitest";
import { dayAt, instant, longDay, shortDay } from "../../../web/src/instant.ts";
import {
  choiceOf,
  faultOf,
  lastDays,
  type Period,
  periodText,
  presets,
} from "../../../web/src/period/period.ts";

const textOf = ({ startDate, endDate }: Period) => `${startDate}/${endDate.slice(5)}`;

it.each([
  ["2026-01-01", "2026-01-01/01-01, 2025-12-01/12-31, 2025-12-03/01-01, 2026-01-01/01-01"],
  ["2028-03-31", "2028-03-01/03-31, 2028-02-01/02-29, 2028-03-02/03-31, 2028-01-01/03-31"],
])("on %s the periods are %s", (today, expected) => {
  expect(presets(today).map(textOf).join(", ")).toBe(expected);
});

it.each([
  // Up to 14 hours ahead of UTC, and 11 behind it.
  ["2026-12-31T10:00:00Z", "Pacific/Kiritimati", "2027-01-01"],
  ["2026-12-31T09:59:59.999Z", "Pacific/Kiritimati", "2026-12-31"],
  ["2027-01-01T10:59:59.999Z", "Pacific/Pago_Pago", "2026-12-31"],
  ["2026-11-30T18:30:00Z", "Asia/Kolkata", "2026-12-01"],
  // The clocks of Los Angeles are put back on 1 November.
  ["2026-11-01T06:59:59.999Z", "America/Los_Angeles", "2026-10-31"],
  ["2026-11-02T07:59:59.999Z", "America/Los_Angeles", "2026-11-01"],
  ["2026-11-02T08:00:00Z", "America/Los_Angeles", "2026-11-02"],
  ["0009-01-01T00:00:00Z", "UTC", "0009-01-01"],
])("%s lies in the day of %s that is %s", (at, timeZone, expected) => {
  expect(dayAt(new Date(at), timeZone)).toBe(expected);
});

it("a chosen period is that of the button on the present day of each zone", () => {
  const choice = choiceOf((today) => lastDays(7, today));
  const now = new Date("2026-12-31T12:00:00Z");
  expect(choice("UTC", now)).toEqual({ startDate: "2026-12-25", endDate: "2026-12-31" });
  const kiritimati = { startDate: "2026-12-26", endDate: "2027-01-01" };
  expect(choice("Pacific/Kiritimati", now)).toEqual(kiritimati);
});

it("days, instants and periods are texts of one form", () => {
  expect(shortDay("2026-09-05")).toBe("5 Sep");
  expect(longDay("2026-09-05")).toBe("5 Sep 2026");
  const at = new Date("2026-11-22T18:45:00Z");
  expect(instant(at, "UTC")).toBe("22 Nov 2026, 18:45");
  expect(instant(at, "Asia/Kolkata")).toBe("23 Nov 2026, 00:15");
  const period = { startDate: "2026-11-01", endDate: "2026-11-22", timeZone: "Asia/Kolkata" };
  expect(periodText(period)).toBe("1 Nov 2026 – 22 Nov 2026, Asia/Kolkata");
});

it.each([
  ["2026-11-01", "2026-11-01", undefined],
  ["2026-11-02", "2026-11-01", "The first day is after the last day."],
  ["", "2026-11-01", "Choose both days."],
])("of a period from %s to %s the fault is %s", (startDate, endDate, fault) => {
  expect(faultOf({ startDate, endDate })).toBe(fault);
});
