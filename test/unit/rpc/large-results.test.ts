/** Turns of the event loop for large results. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import {
  GetOverviewResponseSchema,
  GetServerBreakdownResponseSchema,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { createTurns, entriesOf, type WaitForTurn } from "../../../src/rpc/large-results.ts";

/** Resolves to the turns in which results of these sizes, which come at once, are handed over. */
async function turnsOf(waitForTurn: WaitForTurn, sizes: readonly number[]): Promise<number[]> {
  let turn = 0;
  const counting = (async () => {
    for (; turn < 20; turn++) await nextTurn();
  })();
  const turns = sizes.map(async (rows) => {
    await waitForTurn(rows);
    return turn;
  });
  await counting;
  return Promise.all(turns);
}

it("small results, of less than 250 rows, never wait, and pass large ones that do", async () => {
  expect(await turnsOf(createTurns(), Array(100).fill(249))).toEqual(Array(100).fill(0));
  expect(await turnsOf(createTurns(), [12_000, 12_000, 250])).toMatchObject({ 2: 6 });
  expect(await turnsOf(createTurns(), [12_000, 12_000, 10])).toMatchObject({ 2: 0 });
});

it("results of a turn have 4,000 rows together", async () => {
  const sizes = Array(8).fill(1_000);
  expect(await turnsOf(createTurns(), sizes)).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
});

it("a very large result is followed by turns without another", async () => {
  expect(await turnsOf(createTurns(), [12_000, 4_000])).toEqual([0, 3]);
});

it("the entries of a response are those of its lists, at every depth", () => {
  const instances = [{ instanceId: "a" }, { instanceId: "b" }];
  const breakdown = create(GetServerBreakdownResponseSchema, {
    servers: [{ instances }, { instances: [] }],
  });
  expect(entriesOf(breakdown)).toBe(4);
  expect(entriesOf(create(GetOverviewResponseSchema, { summary: {} }))).toBe(0);
});
