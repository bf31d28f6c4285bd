/** Random instants near the edges of days, months and years, to the millisecond. */
import fc from "fast-check";

/** Distances from an edge, in ms. */
const OFFSETS = [-1_000, -1, 0, 0, 0, 1, 1_000] as const;
const DAY = 86_400_000;

/** An ISO 8601 instant plus some milliseconds. */
export function shift(iso: string, milliseconds: number): string {
  return new Date(Date.parse(iso) + milliseconds).toISOString();
}

const EDGES_OF_A_YEAR = [
  ...["01-01T00:00:00.000Z", "01-31T23:59:59.999Z", "02-01T00:00:00.000Z", "02-28T23:59:59.999Z"],
  ...["03-01T00:00:00.000Z", "03-31T12:00:00.000Z", "07-31T23:59:59.999Z", "11-20T09:30:00.123Z"],
  ...["12-01T00:00:00.000Z", "12-31T00:00:00.000Z", "12-31T23:59:59.999Z"],
];
/** In the past: a rollup up to an instant that the database's clock has not reached is none. */
const EDGES = ["1900", "1999", "2000", "2016", "2024", "2025"]
  .flatMap((year) => EDGES_OF_A_YEAR.map((edge) => `${year}-${edge}`))
  .concat(["2000-02-29T00:00:00.000Z", "2024-02-29T23:59:59.999Z"]);

/** The instant of a request: mostly an edge, else any instant of some years. */
export const anyNow: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...EDGES) },
  {
    weight: 1,
    arbitrary: fc
      .date({ min: new Date("1999-01-01"), max: new Date("2026-01-01"), noInvalidDate: true })
      .map((date) => date.toISOString()),
  },
);

/** The instants that bound figures at `now`: itself, its day, months and year, and 30 days before it. */
export function landmarks(now: string): string[] {
  const month = Temporal.PlainYearMonth.from(now.slice(0, 7));
  const months = Array.from({ length: 15 }, (_, ago) => month.subtract({ months: ago - 1 }));
  return [
    now,
    now,
    `${now.slice(0, 4)}-01-01T00:00:00.000Z`,
    `${now.slice(0, 10)}T00:00:00.000Z`,
    shift(now, -30 * DAY),
    ...months.map((start) => `${start}-01T00:00:00.000Z`),
  ];
}

/** An instant at one of `marks`, a second or less away from it, or up to 400 days away. */
export function around(marks: readonly string[]): fc.Arbitrary<string> {
  const distance = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...OFFSETS) },
    { weight: 1, arbitrary: fc.integer({ min: -400 * DAY, max: 400 * DAY }) },
  );
  return fc.tuple(fc.constantFrom(...marks), distance).map(([mark, ms]) => shift(mark, ms));
}
