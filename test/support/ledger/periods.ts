/** Random periods as request texts, each with the instants that it resolves to. */
import fc from "fast-check";
import { around, landmarks, shift } from "./instants.ts";
import type { ExpectedPeriod } from "./oracle.ts";

/** A period of a breakdown request. */
export interface RequestedPeriod {
  /** The request's texts; "" is an omitted parameter. */
  readonly startDate: string;
  readonly endDate: string;
  readonly resolved: ExpectedPeriod;
}

/** How long before now a period starts by default, in ms. */
const DEFAULT_LENGTH = 30 * 86_400_000;

/** The forms of an end. A date stands for its first instant, or for its last. */
const FORMS: readonly ((instant: string) => string)[] = [
  () => "",
  (instant) => instant.slice(0, 10),
  (instant) => instant.slice(0, -1),
  (instant) => instant,
  (instant) => Temporal.Instant.from(instant).toString({ timeZone: "+05:45" }),
  (instant) => Temporal.Instant.from(instant).toString({ timeZone: "-11:00" }),
];

/** A period between two instants (ISO 8601); "" for an omitted one. */
export function requested(startDate: string, endDate: string, now: string): RequestedPeriod {
  const start = startDate || shift(now, -DEFAULT_LENGTH);
  return { startDate, endDate, resolved: { start, end: endDate || now } };
}

/** What the same texts mean for days: those that end with the day of the end, 30 of them, by default. */
export function resolvedForDays(
  { startDate, resolved }: RequestedPeriod,
  timeZone = "UTC",
): ExpectedPeriod {
  if (startDate !== "") return resolved;
  const last = Temporal.Instant.from(resolved.end).toZonedDateTimeISO(timeZone).toPlainDate();
  const first = last.subtract({ days: 29 }).toZonedDateTime(timeZone).epochMilliseconds;
  const start = new Date(Math.max(first, Date.parse("0001-01-01T00:00:00Z"))).toISOString();
  return { start, end: resolved.end };
}

/** A valid period around `now`: each end omitted or in any form, the start never after the end. */
export function anyPeriod(now: string): fc.Arbitrary<RequestedPeriod> {
  const instant = around(landmarks(now));
  const form = fc.constantFrom(...FORMS);
  return fc.tuple(instant, instant, form, form).map(([one, other, startForm, endForm]) => {
    const [start, end] = one <= other ? [one, other] : [other, one];
    const defaultStart = shift(now, -DEFAULT_LENGTH);
    // What is left out must not end before it starts.
    const endDate = endForm(end) || (start <= now ? "" : end);
    const isOrdered = (endDate === "" ? now : end) >= defaultStart;
    const startDate = startForm(start) || (isOrdered ? "" : start);
    const resolved = (text: string, at: string, byDefault: string, time: string) =>
      text === "" ? byDefault : text.length === 10 ? `${text}T${time}Z` : at;
    return {
      startDate,
      endDate,
      resolved: {
        start: resolved(startDate, start, defaultStart, "00:00:00.000"),
        end: resolved(endDate, end, now, "23:59:59.999"),
      },
    };
  });
}

/** The same texts at another `now`; undefined if the start would be after the end. */
export function resolvedAt(period: RequestedPeriod, now: string): RequestedPeriod | undefined {
  const start = period.startDate === "" ? shift(now, -DEFAULT_LENGTH) : period.resolved.start;
  const end = period.endDate === "" ? now : period.resolved.end;
  return start <= end ? { ...period, resolved: { start, end } } : undefined;
}
