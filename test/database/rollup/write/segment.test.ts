/** Where a segment is divided. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { END, START } from "../../../../src/rollup/timeline.ts";
import {
  nextBoundary,
  type Segment,
  sizeFor,
} from "../../../../src/rollup/write/ledger/segment.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { charge } from "./built.ts";

const RECORDED = "2026-11-20 00:00:00.000";
const NOVEMBER = "2026-11-01 00:00:00.000";
const DECEMBER = "2026-12-01 00:00:00.000";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  for (const table of ["charges", "rentals"]) await database.knex(table).del();
});
afterAll(() => database.drop());

const day = (number: number) => `2026-11-${String(number).padStart(2, "0")} 12:00:00.000`;
const insertCharges = (...instants: string[]) =>
  database.knex("charges").insert(instants.map((at) => charge(at, RECORDED)));
const insertRentals = (...periods: [string, string | null][]) =>
  database.knex("rentals").insert(
    periods.map(([started_at, ended_at]) => ({
      provider_id: 1,
      server_id: 1,
      started_at,
      ended_at,
    })),
  );
/** The next boundary after the start of a month. */
const boundary = (size: number, segment: Partial<Segment> = {}) =>
  database.knex.transaction((reader) =>
    nextBoundary(reader, { provider: "1", from: NOVEMBER, to: END, ...segment }, size),
  );

it("an empty ledger is one segment", async () => {
  expect(await boundary(3, { from: START })).toBe(END);
});

it("at most `size` charges lie before a boundary", async () => {
  await insertCharges(...[1, 2, 3, 4, 5].map(day));
  expect(await boundary(3)).toBe(day(4));
  expect(await boundary(3, { from: day(4) })).toBe(END);
});

it("exactly `size` charges need no boundary", async () => {
  await insertCharges(...[1, 2, 3].map(day));
  expect(await boundary(3)).toBe(END);
});

it("a boundary never lies after the end of the segment", async () => {
  await insertCharges(...[1, 2, 3, 4, 5].map(day));
  expect(await boundary(3, { to: day(3) })).toBe(day(3));
  expect(await boundary(3, { to: day(4) })).toBe(day(4));
});

it("charges at one instant are not divided, even if there are more than `size`", async () => {
  await insertCharges(...Array(7).fill(day(1)), day(2));
  expect(await boundary(3)).toBe(day(1));
  expect(await boundary(3, { from: day(1) })).toBe(day(2));
});

it("charges at one instant with none after them need no boundary", async () => {
  await insertCharges(...Array(7).fill(day(1)));
  expect(await boundary(3, { from: day(1) })).toBe(END);
});

it("at most `size` starts, and at most `size` ends of rentals lie before a boundary", async () => {
  await insertRentals([day(1), day(9)], [day(2), day(8)], [day(3), day(7)], [day(4), null]);
  expect(await boundary(2)).toBe(day(3));
  expect(await boundary(2, { from: day(5) })).toBe(day(9));
});

describe("the last start of a month is preferred", () => {
  const inDecember = (day: string) => `2026-12-${day} 08:00:00.000`;

  it("even if fewer than `size` charges lie before it", async () => {
    await insertCharges(day(5), ...["02", "03", "04", "05"].map(inDecember));
    expect(await boundary(3)).toBe(DECEMBER);
    expect(await boundary(3, { from: START })).toBe(DECEMBER);
    expect(await boundary(3, { from: DECEMBER })).toBe(inDecember("05"));
    expect(await boundary(3, { from: inDecember("03") })).toBe(END);
  });

  it("of several", async () => {
    await insertCharges("2026-08-05 00:00:00.000", "2026-09-05 00:00:00.000", day(5), day(6));
    expect(await boundary(3, { from: START })).toBe(NOVEMBER);
    expect(await boundary(2, { from: START })).toBe(NOVEMBER);
    expect(await boundary(1, { from: START })).toBe("2026-09-01 00:00:00.000");
  });

  it("the instant itself belongs to the month that it begins", async () => {
    await insertCharges(day(5), DECEMBER, DECEMBER);
    expect(await boundary(1)).toBe(DECEMBER);
    expect(await boundary(1, { from: DECEMBER })).toBe(END);
  });

  it("not if the segment needs no boundary, or ends before", async () => {
    await insertCharges(day(5), inDecember("02"), inDecember("03"));
    expect(await boundary(3)).toBe(END);
    expect(await boundary(1, { to: day(6) })).toBe(day(6));
    expect(await boundary(1, { to: DECEMBER })).toBe(DECEMBER);
  });
});

it("charges of another provider have no effect", async () => {
  await database.knex("charges").insert({ ...charge(day(1), RECORDED), provider_id: 2 });
  expect(await boundary(0)).toBe(END);
});

it("a charge in December 9999 belongs to the last segment", async () => {
  await insertCharges("9999-12-05 00:00:00.000");
  expect(await boundary(3)).toBe(END);
});

describe("the segment size", () => {
  it.each([
    [0, 250],
    [60, 250],
    [200, 800],
    [2_000, 8_000],
    [4_000, 12_000],
    [20_000, 60_000],
  ])("for %i servers and instances is %i charges", (owners, size) => {
    expect(sizeFor(owners)).toBe(size);
  });
});
