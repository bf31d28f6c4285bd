/** The sums that are cached of a breakdown. What they add up to, test/database/revenue asks. */
import { expect, it } from "vitest";
import { PeriodTotals, TotalsByOwner } from "../../../src/revenue/breakdown/totals.ts";

const owner = (server: string, instance: string) => ({ server, instance });

it("a size is 6 rows for each server, and one for each owner, which reads do not change", () => {
  const totals = new TotalsByOwner();
  expect(totals.size).toBe(0);
  for (const [server, instance] of ["1/", "1/0", "1/2", "3/2", "1/2"].map((id) => id.split("/"))) {
    totals.add(owner(server ?? "", instance ?? ""), { gross: 1n });
  }
  expect(totals.size).toBe(2 * 6 + 4);
  expect([totals.server("5").gross, totals.instance("1", "5").gross]).toEqual([0n, 0n]);
  expect(totals.size).toBe(2 * 6 + 4);
});

it("what a period adds to the sums at its edges leaves these as they are, for the next period", () => {
  const [before, upToEnd] = [new TotalsByOwner(), new TotalsByOwner()];
  before.add(owner("1", "2"), { gross: 500n, charges: 5, started: 4, ended: 3 });
  upToEnd.add(owner("1", "2"), { gross: 800n, charges: 7, started: 6, ended: 5 });
  for (const _ of ["first", "next"]) {
    const totals = new PeriodTotals(before, upToEnd);
    expect(totals.total().gross).toBe(300n);
    totals.add(owner("1", "2"), { gross: 9n, charges: 1, started: 2, ended: 1, running: 1 });
    totals.add(owner("4", "5"), { gross: -4n });
    const changed = { gross: 309n, charges: 3, started: 8, ended: 4, running: 1 };
    expect(totals.instance("1", "2")).toEqual(changed);
    expect(totals.total().gross).toBe(305n);
  }
});
