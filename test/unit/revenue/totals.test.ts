/** Totals of a breakdown by owner. */
import { describe, expect, it } from "vitest";
import { hadActivity, TotalsByOwner } from "../../../src/revenue/breakdown/totals.ts";

const zero = { gross: 0n, charges: 0, rentals: 0, running: 0 };
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
    totals.add(owner("1", "3"), { rentals: 2 });
    totals.add(owner("4", "5"), { running: 1 });
    expect(totals.instance("1", "2")).toEqual({ ...zero, gross: 500n, charges: 1 });
    expect(totals.instance("1", "3")).toEqual({ ...zero, rentals: 2 });
    expect(totals.server("1")).toEqual({ ...zero, gross: 500n, charges: 1, rentals: 2 });
    expect(totals.server("4")).toEqual({ ...zero, running: 1 });
    expect(totals.total()).toEqual({ gross: 500n, charges: 1, rentals: 2, running: 1 });
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

  it('of the instances "" and "0" count once each', () => {
    const totals = new TotalsByOwner();
    totals.add(owner("1", ""), { rentals: 3 });
    totals.subtract(owner("1", "0"), { rentals: 1 });
    expect([totals.server("1").rentals, totals.total().rentals]).toEqual([2, 2]);
  });

  it("may become negative by subtraction", () => {
    const totals = new TotalsByOwner();
    totals.add(owner("1", "2"), { gross: 700n, charges: 3, rentals: 2, running: 1 });
    totals.subtract(owner("1", "2"), { gross: 800n, charges: 1, rentals: 2, running: 2 });
    expect(totals.total()).toEqual({ gross: -100n, charges: 2, rentals: 0, running: -1 });
  });

  it("keep instances with the same id apart if their servers differ", () => {
    const totals = new TotalsByOwner();
    totals.add(owner("1", "23"), { gross: 5n });
    totals.add(owner("12", "3"), { gross: 7n });
    expect(totals.instance("1", "23").gross).toBe(5n);
    expect(totals.instance("12", "3").gross).toBe(7n);
    expect(totals.instance("1", "3")).toEqual(zero);
  });

  it("have a size: the number of owners with amounts, which reads do not change", () => {
    const totals = new TotalsByOwner();
    expect(totals.size).toBe(0);
    for (const [server, instance] of ["1/", "1/0", "1/2", "3/2", "1/2"].map((id) =>
      id.split("/"),
    )) {
      totals.add(owner(server ?? "", instance ?? ""), { gross: 1n });
    }
    expect(totals.size).toBe(4);
    expect(totals.server("5")).toEqual(zero);
    expect(totals.instance("1", "5")).toEqual(zero);
    expect(totals.size).toBe(4);
  });
});

describe("activity in the period", () => {
  it.each([
    ["no rows: false", zero, false],
    ["a rental that runs now, but not in the period: false", { ...zero, running: 1 }, false],
    ["a rental: true", { ...zero, rentals: 1 }, true],
    ["a charge and its refund: true", { ...zero, charges: 2 }, true],
  ])("%s", (_, totals, expected) => {
    expect(hadActivity(totals)).toBe(expected);
  });
});

describe("a copy of totals", () => {
  const amounts = { gross: 500n, charges: 1, rentals: 2, running: 3 };
  function original() {
    const totals = new TotalsByOwner();
    totals.add(owner("1", "2"), amounts);
    return totals;
  }

  it("equals the original", () => {
    const copy = original().copy();
    expect(copy.instance("1", "2")).toEqual(amounts);
    expect(copy.server("1")).toEqual(amounts);
    expect(copy.total()).toEqual(amounts);
    expect(copy.size).toBe(1);
  });

  it.each([
    ["an instance of the original", owner("1", "2")],
    ["another instance of a server of the original", owner("1", "3")],
    ["another server", owner("4", "2")],
  ])("does not change the original when %s is added to", (_, changed) => {
    const totals = original();
    const copy = totals.copy();
    copy.add(changed, { gross: 70n, charges: 1, rentals: 1, running: 1 });
    expect(copy.total()).toEqual({ gross: 570n, charges: 2, rentals: 3, running: 4 });
    expect(totals.total()).toEqual(amounts);
    expect(totals.instance("1", "2")).toEqual(amounts);
    expect(totals.size).toBe(1);
  });

  it("does not change with the original", () => {
    const totals = original();
    const copy = totals.copy();
    totals.subtract(owner("1", "2"), amounts);
    expect(copy.total()).toEqual(amounts);
    expect(totals.total()).toEqual(zero);
  });
});
