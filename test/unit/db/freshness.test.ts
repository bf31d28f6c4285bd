import { expect, it } from "vitest";
import { limitAge } from "../../../src/db/freshness.ts";
import type { Read, Row } from "../../../src/db/query.ts";
import { compileStatement } from "../../../src/db/statement.ts";

const NOW = Date.UTC(2026, 10, 20, 9, 30);
const { signal } = new AbortController();

const wallets = compileStatement(
  { wallets: { select: { count: "COUNT(*)" }, from: "wallets" } },
  [],
);

const text = (ms: number) => new Date(NOW + ms).toISOString().replace("T", " ").slice(0, 23);

/** A limited read of a database whose clock and heartbeat are these, in ms after `NOW`. */
function reading(instant: number, heartbeat?: number, maxLag = 10_000) {
  const ages: number[] = [];
  const read: Read = async (sql, _bindings, { check }) => {
    expect(sql).toContain("(SELECT written_at FROM heartbeat WHERE id = 1)");
    const both = heartbeat === undefined ? text(instant) : `${text(instant)}/${text(heartbeat)}`;
    const rows: Row[] = [["0", both, "7"]];
    check?.(rows);
    return rows;
  };
  const limited = limitAge(read, maxLag, (age) => ages.push(age));
  return { ages, result: wallets.run(limited, {}, { signal }) };
}

it("an answer holds as of its heartbeat, or the node's clock if that is behind it", async () => {
  const { rows, asOf } = await reading(0, -400).result;
  expect(rows.wallets).toMatchObject([{ count: "7" }]);
  expect(asOf - NOW).toBe(-400);
  expect((await reading(100, 150).result).asOf - NOW).toBe(100);
});

it("an answer is refused if its heartbeat is older than the limit, and says how old it is", async () => {
  expect((await reading(0, -10_000).result).asOf - NOW).toBe(-10_000);
  await expect(reading(0, -10_001).result).rejects.toThrow(
    "the heartbeat is 10001 ms old, 10000 ms are allowed",
  );
});

it("an answer without a heartbeat is refused, and says what to run", async () => {
  await expect(reading(0).result).rejects.toThrow("run `npm run rollup -- --watch`");
});

it("the age of every answer is reported, also of those that are refused", async () => {
  for (const heartbeat of [-400, -20_000, 30]) {
    const { ages, result } = reading(0, heartbeat);
    await result.catch(() => {});
    expect(ages).toEqual([-heartbeat]);
  }
});
