/** The pattern of the period's two parameters allows what the service reads, and nothing else. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { parameterDetails } from "../../../dev/openapi/examples.ts";
import { ServiceError } from "../../../src/errors.ts";
import { parsePeriod } from "../../../src/revenue/period.ts";

const { start_date, end_date } = parameterDetails;
const allowed = new RegExp(String(start_date?.schema?.pattern), "u");
/** Texts like instants, right and wrong ones. */
const SIMILAR =
  /^[0-3]\d{3}-?[01]\d-[0-3]\d([Tt ][0-2]\d:[0-6]\d(:[0-6]\d([.,;]\d{0,9})?)?([Zz]|[+ −–-][0-2]\d(:?[0-6]\d)?)?)?$/u;

/** What the service makes of a text, as the end of a period that starts early. */
function outcomeOf(text: string): "read" | "out of range" | "refused" {
  try {
    parsePeriod("0001-01-01", text);
    return "read";
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // An offset may move the first and the last day out of the years 1 to 9999.
    const range = /the year must be|at or before endDate/;
    return range.test(error.message) && !text.startsWith("0000") ? "out of range" : "refused";
  }
}

test("it is that of both, and allows every day of the calendar, and no other", () => {
  expect(end_date?.schema?.pattern).toBe(allowed.source);
  const differs = (text: string) => allowed.test(text) !== (outcomeOf(text) === "read");
  const numbers = Array.from({ length: 33 }, (_, index) => `${index}`.padStart(2, "0"));
  const days = numbers.slice(0, 14).flatMap((month) => numbers.map((day) => `${month}-${day}`));
  const years = ["0000", "0001", "0100", "0400", "2026", "2028", "9999"];
  const leapDays = Array.from({ length: 10_000 }, (_, year) => `${year}-02-29`.padStart(10, "0"));
  const dates = [...years.flatMap((year) => days.map((day) => `${year}-${day}`)), ...leapDays];
  expect(dates.filter(differs)).toEqual([]);
});

test("a text is allowed if and only if it is read", () => {
  const mutant = fc
    .tuple(
      fc.stringMatching(SIMILAR),
      fc.nat(60),
      fc.constantFrom("", "0", "9", "-", "+", "−", " ", "T", "t", "Z", ":", ".", ",", "\n", "٠"),
      fc.nat(1),
    )
    .map(([text, at, character, removed]) =>
      [text.slice(0, at), character, text.slice(at + removed)].join(""),
    );
  fc.assert(
    fc.property(fc.oneof(mutant, fc.stringMatching(allowed)), (text) => {
      const outcome = outcomeOf(text);
      fc.pre(outcome !== "out of range");
      expect(outcome === "read").toBe(allowed.test(text));
    }),
    { seed: 1, numRuns: 1_000 },
  );
});
