/** Which rollups of a pass are refreshed together. */
import { expect, it } from "vitest";
import type { News } from "../../../src/rollup/write/pass/news.ts";
import { refreshRollups } from "../../../src/rollup/write/pass/refreshes.ts";

const rollup = (id: number, fields: Partial<News> = {}): News => ({
  ...{ provider: String(id), generation: "1", watermark: "", building: false, ahead: false },
  ...{ size: 250, checkpoints: 8, ...fields },
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

it("large rollups are refreshed alone, and small ones at most 32 at a time", async () => {
  const many = Array.from({ length: 70 }, (_, id) => rollup(id));
  const large = [rollup(100, { checkpoints: 101 }), rollup(101, { size: 8_000 })];
  const { groups } = await groupsOf([...many.slice(0, 35), ...large, ...many.slice(35)]);
  expect(groups.map(({ length }) => length)).toEqual([1, 1, 32, 32, 6]);
  expect(groups.slice(0, 2)).toEqual([["100"], ["101"]]);
  expect(groups.flat().sort()).toEqual([...many, ...large].map(({ provider }) => provider).sort());
});

it("if one of a group fails for a reason of its own, each is refreshed alone", async () => {
  const rollups = [rollup(1), rollup(2), rollup(3)];
  const { groups, failed } = await groupsOf(rollups, (ids) => ids.includes("2") && new Error("no"));
  expect(groups).toEqual([["1", "2", "3"], ["1"], ["2"], ["3"]]);
  expect(failed).toEqual(["2"]);
});

it("an error that every provider would get ends the run", async () => {
  const error = Object.assign(new Error("access denied"), { sqlState: "42000" });
  await expect(groupsOf([rollup(1), rollup(2)], () => error)).rejects.toThrow("access denied");
});
