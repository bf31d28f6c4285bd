/** Which rollups of a pass are refreshed together. */
import { expect, it } from "vitest";
import type { News } from "../../../src/rollup/write/pass/news.ts";
import { refreshRollups } from "../../../src/rollup/write/pass/refreshes.ts";

const rollup = (id: number, fields: Partial<News> = {}): News => ({
  ...{ provider: String(id), generation: "1", watermark: "", building: false, ahead: false },
  ...{ size: 250, checkpoints: 8, manyCharges: false, ...fields },
});

async function groupsOf(rollups: readonly News[], failing?: (group: readonly string[]) => unknown) {
  const groups: string[][] = [];
  const failed: string[] = [];
  await refreshRollups(rollups, {
    ...{ concurrency: 1, stopped: () => false },
    attempt: (provider, work) => work().catch(() => void failed.push(provider)),
    refresh: async (group) => {
      const ids = group.map(({ provider }) => provider);
      groups.push(ids);
      const error = failing?.(ids);
      if (error) throw error;
    },
  });
  return { groups, failed };
}

it("small rollups are refreshed at most 32 at a time, then large ones and large changes alone", async () => {
  const many = Array.from({ length: 70 }, (_, id) => rollup(id));
  const large = [{ checkpoints: 101 }, { size: 8_000 }, { manyCharges: true }].map((fields, nth) =>
    rollup(100 + nth, fields),
  );
  const { groups } = await groupsOf([...many.slice(0, 35), ...large, ...many.slice(35)]);
  expect(groups.map(({ length }) => length)).toEqual([32, 32, 6, 1, 1, 1]);
  expect(groups.flat()).toEqual([...many, ...large].map(({ provider }) => provider));
});

it("if one of a group fails for a reason of its own, each is refreshed alone after all groups", async () => {
  const rollups = Array.from({ length: 34 }, (_, id) => rollup(id));
  const { groups, failed } = await groupsOf(rollups, (ids) => ids.includes("2") && new Error("no"));
  const ids = rollups.map(({ provider }) => provider);
  const first = ids.slice(0, 32);
  expect(groups).toEqual([first, ["32", "33"], ...first.map((id) => [id])]);
  expect(failed).toEqual(["2"]);
});

it("an error that every provider would get ends the run", async () => {
  const error = Object.assign(new Error("access denied"), { sqlState: "42000" });
  await expect(groupsOf([rollup(1), rollup(2)], () => error)).rejects.toThrow("access denied");
});
