import { describe, expect, it } from "vitest";
import { createTotalsByOwner, hadActivity } from "../../../src/revenue/breakdown/totals.ts";

const nothing = { gross: 0n, charges: 0, rentals: 0, running: 0 };
const of = (server: string, instance: string) => ({ server, instance });

describe("tallies", () => {
  it("are empty where nothing was added", () => {
    const tallies = createTotalsByOwner();
    expect([tallies.total(), tallies.server("1"), tallies.instance("1", "2")]).toEqual([
      nothing,
      nothing,
      nothing,
    ]);
  });

  it("count what an instance has for its server and the total too", () => {
    const tallies = createTotalsByOwner();
    tallies.add(of("1", "2"), 1, { gross: 500n, charges: 1 });
    tallies.add(of("1", "3"), 1, { rentals: 2 });
    tallies.add(of("4", "5"), 1, { running: 1 });
    expect(tallies.instance("1", "2")).toEqual({ ...nothing, gross: 500n, charges: 1 });
    expect(tallies.instance("1", "3")).toEqual({ ...nothing, rentals: 2 });
    expect(tallies.server("1")).toEqual({ ...nothing, gross: 500n, charges: 1, rentals: 2 });
    expect(tallies.server("4")).toEqual({ ...nothing, running: 1 });
    expect(tallies.total()).toEqual({ gross: 500n, charges: 1, rentals: 2, running: 1 });
  });

  it.each(["", "0"])(
    "count what belongs to no instance (%j) for its server and the total",
    (none) => {
      const tallies = createTotalsByOwner();
      tallies.add(of("1", none), 1, { gross: -5n });
      tallies.add(of("1", "2"), 1, { gross: 7n });
      expect(tallies.server("1").gross).toBe(2n);
      expect(tallies.total().gross).toBe(2n);
      expect(tallies.instance("1", none)).toEqual({ ...nothing, gross: -5n });
      expect(tallies.instance("1", "2")).toEqual({ ...nothing, gross: 7n });
    },
  );

  it("count what is told of no instance in two ways once each", () => {
    const tallies = createTotalsByOwner();
    tallies.add(of("1", ""), 1, { rentals: 3 });
    tallies.add(of("1", "0"), -1, { rentals: 1 });
    expect([tallies.server("1").rentals, tallies.total().rentals]).toEqual([2, 2]);
  });

  it("take off what they are told to", () => {
    const tallies = createTotalsByOwner();
    tallies.add(of("1", "2"), 1, { gross: 700n, charges: 3, rentals: 2 });
    tallies.add(of("1", "2"), -1, { gross: 800n, charges: 1, rentals: 2 });
    expect(tallies.total()).toEqual({ ...nothing, gross: -100n, charges: 2 });
  });

  it("set a charge although it was refunded", () => {
    const tallies = createTotalsByOwner();
    tallies.add(of("1", "2"), 1, { gross: 5n, charges: 1 });
    tallies.add(of("1", "2"), 1, { gross: -5n, charges: 1 });
    expect(hadActivity(tallies.instance("1", "2"))).toBe(true);
    expect(hadActivity(tallies.instance("1", "3"))).toBe(false);
  });

  it("keep an instance of one server apart from the same id under another", () => {
    const tallies = createTotalsByOwner();
    tallies.add(of("1", "23"), 1, { gross: 5n });
    tallies.add(of("12", "3"), 1, { gross: 7n });
    expect([tallies.instance("1", "23").gross, tallies.instance("12", "3").gross]).toEqual([
      5n,
      7n,
    ]);
    expect(tallies.instance("1", "3")).toEqual(nothing);
  });

  it("are as many as there are owners, each counted once", () => {
    const tallies = createTotalsByOwner();
    expect(tallies.size).toBe(0);
    for (const owner of [of("1", ""), of("1", "0"), of("1", "2"), of("3", "2"), of("1", "2")]) {
      tallies.add(owner, 1, { gross: 1n });
    }
    expect(tallies.size).toBe(4);
    expect(tallies.server("5")).toEqual(nothing);
    expect(tallies.instance("1", "5")).toEqual(nothing);
    expect(tallies.size).toBe(4);
  });
});

describe("a copy of tallies", () => {
  const figures = { gross: 500n, charges: 1, rentals: 2, running: 3 };
  function original() {
    const tallies = createTotalsByOwner();
    tallies.add(of("1", "2"), 1, figures);
    return tallies;
  }

  it("starts from what they are", () => {
    const copy = original().copy();
    expect([copy.instance("1", "2"), copy.server("1"), copy.total()]).toEqual([
      figures,
      figures,
      figures,
    ]);
    expect(copy.size).toBe(1);
  });

  it.each([
    ["an instance that they have", of("1", "2")],
    ["another instance of a server that they have", of("1", "3")],
    ["another server", of("4", "2")],
  ])("leaves them alone where it is added to %s", (_, owner) => {
    const tallies = original();
    const copy = tallies.copy();
    copy.add(owner, 1, { gross: 70n, charges: 1, rentals: 1, running: 1 });
    expect(copy.total()).toEqual({ gross: 570n, charges: 2, rentals: 3, running: 4 });
    expect(tallies.total()).toEqual(figures);
    expect(tallies.instance("1", "2")).toEqual(figures);
    expect(tallies.size).toBe(1);
  });

  it("is left alone where they are added to", () => {
    const tallies = original();
    const copy = tallies.copy();
    tallies.add(of("1", "2"), -1, figures);
    expect(copy.total()).toEqual(figures);
    expect(tallies.total()).toEqual(nothing);
  });
});
