/** The periods of the page's buttons, and days and instants in time zones. */
import { expect, it } from "vitest";
import {
  dayAt,
  instant,
  longDay,
  longMonth,
  shortDay,
  shortMonth,
} from "../../../web/src/instant.ts";
import {
  faultOf,
  monthBefore,
  monthPeriod,
  monthsUpTo,
  type Period,
  periodIn,
  periodText,
  presets,
} from "../../../web/src/period/period.ts";
import { zoneNamed } from "../../../web/src/zone.ts";

const shortOf = ({ startDate, endDate }: Period) => `${startDate}/${endDate.slice(5)}`;

it.each([
  ["2026-01-01", "2026-01-01/01-01, 2025-12-01/12-31, 2025-12-03/01-01, 2026-01-01/01-01"],
  ["2028-03-31", "2028-03-01/03-31, 2028-02-01/02-29, 2028-03-02/03-31, 2028-01-01/03-31"],
])("on %s the periods are %s, and all time", (today, expected) => {
  const all = presets(today).map(shortOf);
  expect(all.join(", ")).toBe(`${expected}, 1970-01-01/${today.slice(5)}`);
});

it.each([
  ["2027-01-01T10:59:59.999Z", "Pacific/Pago_Pago", "2026-12-31"],
  ["0009-01-01T00:00:00Z", "UTC", "0009-01-01"],
])("%s lies in the day of %s that is %s", (at, timeZone, expected) => {
  expect(dayAt(new Date(at), timeZone)).toBe(expected);
});

it.each([
  ["last-month", "2026-10-01_2026-10-31"],
  ["2026-02-03_2026-03-04", "2026-02-03_2026-03-04"],
  // What nobody can have chosen is the first button.
  [undefined, "2026-11-01_2026-11-28"],
  ["x2026-02-03_2026-02-03", "2026-11-01_2026-11-28"],
  ["2026-02-30_2026-03-04", "2026-11-01_2026-11-28"],
])("on 28 November an address with the period %s shows %s", (text, expected) => {
  const [startDate, endDate] = expected.split("_");
  // Exactly what is asked for.
  expect(periodIn(text, "2026-11-28")).toEqual({ startDate, endDate });
});

it("months are counted across years", () => {
  expect(shortOf(monthPeriod("2026-01", -12))).toBe("2025-01-01/01-31");
  expect(shortOf(monthBefore("2026-03-31"))).toBe("2026-02-01/02-28");
  const months = monthsUpTo("2026-02-28");
  expect([months[0], months.length, months.at(-1)]).toEqual(["2026-02", 12, "2025-03"]);
});

it("a zone is called as people call it, if there is one of that name", () => {
  const names = ["Asia/Calcutta", "asia/kolkata", "Mars/Olympus"].map(zoneNamed);
  expect(names).toEqual(["Asia/Kolkata", "Asia/Kolkata", undefined]);
});

it("days, instants and periods are texts of one form", () => {
  expect([shortDay("2026-09-05"), longDay("2026-09-05")]).toEqual(["5 Sep", "5 Sep 2026"]);
  const at = new Date("2026-11-22T18:45:00Z");
  expect(instant(at, "Asia/Kolkata")).toBe("23 Nov 2026, 00:15");
  expect([longMonth("2026-09"), longMonth("2026")]).toEqual(["September 2026", "2026"]);
  expect(shortMonth("2026-09")).toBe("Sep 2026");
  const period = { startDate: "2026-11-01", endDate: "2026-11-22" };
  expect(periodText(period)).toBe("1 Nov 2026 – 22 Nov 2026");
  expect(periodText({ ...period, endDate: period.startDate })).toBe("1 Nov 2026");
  expect(faultOf(period)).toBeUndefined();
  expect(faultOf({ ...period, startDate: "2026-11-23" })).toMatch(/^The first day is after/);
  expect(faultOf({ ...period, startDate: "" })).toBe("Choose both days.");
});
