import { describe, expect, it } from "vitest";
import { createTallies, hadActivity } from "../../src/revenue/tally.ts";

const nothing = { gross: 0n, charges: 0, rentals: 0, running: 0 };
const of = (server: string, instance: string) => ({ server, instance });

describe("tallies", () => {
  it("are empty where nothing was added", () => {
    const tallies = createTallies();
    expect([tallies.total, tallies.server("1"), tallies.instance("1", "2")]).toEqual([
      nothing,
      nothing,
      nothing,
    ]);
  });

  it("count what an instance has for its server and the total too", () => {
    const tallies = createTallies();
    tallies.add(of("1", "2"), 1, { gross: 500n, charges: 1 });
    tallies.add(of("1", "3"), 1, { rentals: 2 });
    tallies.add(of("4", "5"), 1, { running: 1 });
    expect(tallies.instance("1", "2")).toEqual({ ...nothing, gross: 500n, charges: 1 });
    expect(tallies.instance("1", "3")).toEqual({ ...nothing, rentals: 2 });
    expect(tallies.server("1")).toEqual({ ...nothing, gross: 500n, charges: 1, rentals: 2 });
    expect(tallies.server("4")).toEqual({ ...nothing, running: 1 });
    expect(tallies.total).toEqual({ gross: 500n, charges: 1, rentals: 2, running: 1 });
  });

  it.each(["", "0"])("count what belongs to no instance (%j) for the others alone", (none) => {
    const tallies = createTallies();
    tallies.add(of("1", none), 1, { gross: -5n });
    expect(tallies.server("1").gross).toBe(-5n);
    expect(tallies.total.gross).toBe(-5n);
    expect(tallies.instance("1", none)).toEqual(nothing);
  });

  it("take off what they are told to", () => {
    const tallies = createTallies();
    tallies.add(of("1", "2"), 1, { gross: 700n, charges: 3, rentals: 2 });
    tallies.add(of("1", "2"), -1, { gross: 800n, charges: 1, rentals: 2 });
    expect(tallies.total).toEqual({ ...nothing, gross: -100n, charges: 2 });
  });

  it("remember a charge although it was refunded", () => {
    const tallies = createTallies();
    tallies.add(of("1", "2"), 1, { gross: 5n, charges: 1 });
    tallies.add(of("1", "2"), 1, { gross: -5n, charges: 1 });
    expect(hadActivity(tallies.instance("1", "2"))).toBe(true);
    expect(hadActivity(tallies.instance("1", "3"))).toBe(false);
  });

  it("keep an instance of one server apart from the same id under another", () => {
    const tallies = createTallies();
    tallies.add(of("1", "23"), 1, { gross: 5n });
    tallies.add(of("12", "3"), 1, { gross: 7n });
    expect([tallies.instance("1", "23").gross, tallies.instance("12", "3").gross]).toEqual([
      5n,
      7n,
    ]);
    expect(tallies.instance("1", "3")).toEqual(nothing);
  });
});
