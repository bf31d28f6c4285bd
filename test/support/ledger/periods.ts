/** Periods as callers write them, each with what it must mean. */
import fc from "fast-check";
import type { ExpectedPeriod } from "./breakdown-oracle.ts";
import { around, landmarks, shift } from "./instants.ts";

export interface AskedPeriod {
  /** The parameters' texts. */
  readonly startDate: string;
  readonly endDate: string;
  readonly means: ExpectedPeriod;
}

/** How far before now a period starts by default, in ms. */
const MONTH = 30 * 86_400_000;

type Form = "omitted" | "date" | "no offset" | "Z" | "+05:45" | "-11:00";
const FORMS: readonly Form[] = ["omitted", "date", "no offset", "Z", "+05:45", "-11:00"];

/** A period around `now`, its ends omitted or in any form, the start never after the end. */
export function anyPeriod(now: string): fc.Arbitrary<AskedPeriod> {
  const instant = around(landmarks(now));
  const form = fc.constantFrom(...FORMS);
  return fc.tuple(instant, instant, form, form).map(([one, other, startForm, endForm]) => {
    const [start, end] = one <= other ? [one, other] : [other, one];
    const monthAgo = shift(now, -MONTH);
    const endOmitted = endForm === "omitted" && start <= now;
    const startOmitted = startForm === "omitted" && (endOmitted || end >= monthAgo);
    return {
      startDate: startOmitted ? "" : written(start, startForm),
      endDate: endOmitted ? "" : written(end, endForm),
      means: {
        start: startOmitted ? monthAgo : meantAsStart(start, startForm),
        end: endOmitted ? now : meantAsEnd(end, endForm),
      },
    };
  });
}

/** The same texts, asked at another `now`; `undefined` where they make no period then. */
export function meantAt(period: AskedPeriod, now: string): AskedPeriod | undefined {
  const start = period.startDate === "" ? shift(now, -MONTH) : period.means.start;
  const end = period.endDate === "" ? now : period.means.end;
  return start <= end ? { ...period, means: { start, end } } : undefined;
}

function written(instant: string, form: Form): string {
  switch (form) {
    case "date":
      return instant.slice(0, 10);
    case "no offset":
      return instant.slice(0, -1);
    case "+05:45":
    case "-11:00":
      return Temporal.Instant.from(instant).toString({ timeZone: form });
    default:
      return instant;
  }
}

function meantAsStart(instant: string, form: Form): string {
  return form === "date" ? `${instant.slice(0, 10)}T00:00:00.000Z` : instant;
}

function meantAsEnd(instant: string, form: Form): string {
  return form === "date" ? `${instant.slice(0, 10)}T23:59:59.999Z` : instant;
}
