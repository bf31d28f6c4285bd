/** Totals of a breakdown by owner. */
import { describe, expect, it } from "vitest";
import {
  hadActivity,
  PeriodTotals,
  rentalsOf,
  TotalsByOwner,
} from "../../../src/revenue/breakdown/totals.ts";

const zero = { gross: 0n, charges: 0, started: 0, ended: 0, running: 0 };
const owner = (server: string, instance: string) => ({ server, instance });

describe("totals", () => {
  it("are zero for an owner without amounts", () => {
    const totals = new TotalsByOwner();
    expect(totals.total()).toEqual(zero);
    expect(totals.server("1")).toEqual(zero);
    expect(totals.instance("1", "2")).toEqual(zero);
  });

  it("of an instance count for its server and for the provider", () => {
    const totals = new TotalsByOwner();
    totals.add(owner("1", "2"), { gross: 500n, charges: 1 });
    totals.add(owner("1", "3"), { started: 3, ended: 1 });
    totals.add(owner("4", "5"), { running: 1 });
    expect(totals.instance("1", "2")).toEqual({ ...zero, gross: 500n, charges: 1 });
    const rentals = { started: 3, ended: 1 };
    expect(totals.instance("1", "3")).toEqual({ ...zero, ...rentals });
    expect(totals.server("1")).toEqual({ ...zero, ...rentals, gross: 500n, charges: 1 });
    expect(totals.server("4")).toEqual({ ...zero, running: 1 });
    expect(totals.total()).toEqual({ ...rentals, gross: 500n, charges: 1, running: 1 });
    expect(rentalsOf(totals.total())).toBe(2);
  });

  it("have no fewer rentals than none", () => {
    expect(rentalsOf({ ...zero, started: 1, ended: 2 })).toBe(0);
  });

  it.each(["", "0"])("of no instance (%j) count for the server and the provider", (none) => {
    const totals = new TotalsByOwner();
    totals.add(owner("1", none), { gross: -5n });
    totals.add(owner("1", "2"), { gross: 7n });
    expect(totals.server("1").gross).toBe(2n);
    expect(totals.total().gross).toBe(2n);
    expect(totals.instance("1", none)).toEqual({ ...zero, gross: -5n });
    expect(totals.instance("1", "2")).toEqual({ ...zero, gross: 7n });
  });

  it("keep instances with the same id apart if their servers differ", () => {
    const totals = new TotalsByOwner();
    totals.add(owner("1", "23"), { gross: 5n });
    totals.add(owner("12", "3"), { gross: 7n });
    expect(totals.instance("1", "23").gross).toBe(5n);
    expect(totals.instance("12", "3").gross).toBe(7n);
    expect(totals.instance("1", "3")).toEqual(zero);
  });

  it("have a size: 6 rows for each server, and one for each owner, which reads do not change", () => {
    const totals = new TotalsByOwner();
    expect(totals.size).toBe(0);
    for (const [server, instance] of ["1/", "1/0", "1/2", "3/2", "1/2"].map((id) =>
      id.split("/"),
    )) {
      totals.add(owner(server ?? "", instance ?? ""), { gross: 1n });
    }
    expect(totals.size).toBe(2 * 6 + 4);
    expect(totals.server("5")).toEqual(zero);
    expect(totals.instance("1", "5")).toEqual(zero);
    expect(totals.size).toBe(2 * 6 + 4);
  });
});

describe("activity in the period", () => {
  it.each([
    ["no rows: false", zero, false],
    ["a rental that runs now, but not in the period: false", { ...zero, running: 1 }, false],
    ["a rental: true", { ...zero, started: 1 }, true],
    ["only rentals that ended before: false", { ...zero, started: 2, ended: 2 }, false],
    ["a charge and its refund: true", { ...zero, charges: 2 }, true],
  ])("%s", (_, totals, expected) => {
    expect(hadActivity(totals)).toBe(expected);
  });
});

describe("the totals of a period", () => {
  const before = new TotalsByOwner();
  before.add(owner("1", "2"), { gross: 500n, charges: 5, started: 4, ended: 3 });
  before.add(owner("7", "8"), { gross: -1n, charges: 1 });
  const upToEnd = new TotalsByOwner();
  upToEnd.add(owner("1", "2"), { gross: 800n, charges: 7, started: 6, ended: 5 });
  upToEnd.add(owner("1", "3"), { gross: 30n, charges: 1, started: 1, ended: 1 });

  it("are the charges between, the rentals started by its end, and those ended before its start", () => {
    const totals = new PeriodTotals(before, upToEnd);
    const amounts = { gross: 300n, charges: 2, started: 6, ended: 3, running: 0 };
    expect(totals.instance("1", "2")).toEqual(amounts);
    expect(rentalsOf(totals.instance("1", "2"))).toBe(3);
    expect(rentalsOf(totals.instance("1", "3"))).toBe(1);
    expect(totals.server("1")).toEqual({ ...amounts, gross: 330n, charges: 3, started: 7 });
    expect(totals.instance("9", "9")).toEqual(zero);
  });

  it("have owners that only the earlier ones have", () => {
    const totals = new PeriodTotals(before, upToEnd);
    expect(totals.instance("7", "8")).toEqual({ ...zero, gross: 1n, charges: -1 });
    expect(totals.server("7").gross).toBe(1n);
    expect(totals.total()).toEqual({ gross: 331n, charges: 2, started: 7, ended: 3, running: 0 });
  });

  it("are changed without a change of those at the edges", () => {
    const totals = new PeriodTotals(before, upToEnd);
    const sums = [totals.total().gross, totals.server("1").gross];
    totals.add(owner("1", "2"), { gross: 9n, charges: 1, started: 2, ended: 1, running: 1 });
    totals.add(owner("4", "5"), { gross: -4n });
    const changed = { gross: 309n, charges: 3, started: 8, ended: 4, running: 1 };
    expect(totals.instance("1", "2")).toEqual(changed);
    expect(totals.instance("4", "5")).toEqual({ ...zero, gross: -4n });
    expect([totals.total().gross, totals.server("1").gross]).toEqual([336n, 339n]);
    expect(sums).toEqual([331n, 330n]);
    expect(before.instance("1", "2").gross).toBe(500n);
    expect(upToEnd.total().gross).toBe(830n);
  });

  it("include, if asked again, what was added since", () => {
    const totals = new TotalsByOwner();
    totals.add(owner("1", "2"), { gross: 1n });
    expect([totals.total().gross, totals.server("1").gross]).toEqual([1n, 1n]);
    totals.add(owner("1", "3"), { gross: 2n });
    expect([totals.total().gross, totals.server("1").gross]).toEqual([3n, 3n]);
  });
});
