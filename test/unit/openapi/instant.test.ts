/** The pattern of the period's two parameters allows what the service reads, and nothing else. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { parameterDetails } from "../../../dev/openapi/examples.ts";
import { ServiceError } from "../../../src/errors.ts";
import { parsePeriod } from "../../../src/revenue/breakdown/period.ts";

const patterns = Object.values(parameterDetails).map(({ schema }) => String(schema?.pattern));
const [pattern = ""] = patterns;
const allowed = new RegExp(pattern, "u");
/** Texts like instants, right and wrong ones. */
const SIMILAR =
  /^[0-3]\d{3}-?[01]\d-[0-3]\d([Tt ][0-2]\d:[0-6]\d(:[0-6]\d([.,;]\d{0,9})?)?([Zz]|[+ −–-][0-2]\d(:?[0-6]\d)?)?)?$/u;

/** What the service makes of a text, as the end of a period that starts early. */
function outcomeOf(text: string): "read" | "no such day" | "refused" {
  try {
    parsePeriod("0001-01-01", text, Date.parse("2026-11-20T12:00:00Z"));
    return "read";
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // The document says in words that the day must exist, in the years 1 to 9999.
    const calendar = /is not a day of the calendar|the year must be|at or before endDate/;
    return calendar.test(error.message) ? "no such day" : "refused";
  }
}

test("both parameters have it", () => {
  expect(new Set(patterns).size).toBe(1);
});

test("every text that it allows is read", () => {
  fc.assert(
    fc.property(fc.stringMatching(allowed), (text) => {
      expect(outcomeOf(text)).not.toBe("refused");
    }),
    { seed: 1, numRuns: 2_000 },
  );
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
    fc.property(mutant, (text) => {
      const outcome = outcomeOf(text);
      fc.pre(outcome !== "no such day");
      expect(outcome === "read").toBe(allowed.test(text));
    }),
    { seed: 1, numRuns: 3_000 },
  );
});
