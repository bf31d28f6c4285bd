/** Statements with an estimate of *now*: a day can begin, on the host or in the database, between any two of them. */
import { expect, it } from "vitest";
import { withEstimatedNow } from "../../../src/revenue/estimated-now.ts";

const DAY = 86_400_000;
const MIDNIGHT = Date.UTC(2026, 10, 27);
const dayOf = (at: number) => Math.floor(at / DAY);

/** Asks with a host's estimate. The answer is the day, which a statement has if its parameters are of that day. */
async function ask(estimate: number, ...times: readonly number[]) {
  let asked = 0;
  const answer = await withEstimatedNow(estimate, async (estimated) => {
    const now = times[asked++] ?? Number.NaN;
    return { now, answer: dayOf(estimated) === dayOf(now) ? dayOf(now) : undefined };
  });
  return { asked, answer };
}

it.each<[string, number, number[], number]>([
  ["on the same day", MIDNIGHT + 1, [MIDNIGHT + 2], 1],
  ["a host ahead of the database", MIDNIGHT + 1, [MIDNIGHT - 9, MIDNIGHT - 8], 2],
  ["a host behind it", MIDNIGHT - 1, [MIDNIGHT + 9, MIDNIGHT + 10], 2],
  [
    "a host ahead of it, where the day begins meanwhile",
    MIDNIGHT + 1,
    [MIDNIGHT - 1, MIDNIGHT + 1, MIDNIGHT + 2],
    3,
  ],
])("%s", async (_, estimate, times, asked) => {
  expect(await ask(estimate, ...times)).toEqual({ asked, answer: dayOf(times.at(-1) ?? 0) });
});

it("nodes that never agree make the database unavailable", async () => {
  const times = [MIDNIGHT - DAY, MIDNIGHT + DAY, MIDNIGHT - DAY];
  await expect(ask(MIDNIGHT, ...times)).rejects.toMatchObject({ kind: "databaseUnavailable" });
});
