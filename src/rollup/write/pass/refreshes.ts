/** The refreshes of a pass: large rollups one by one, small ones several at a time. */

import type { News } from "./news.ts";
import { isProviderSpecific } from "./retry.ts";
import { runTasks } from "./tasks.ts";

/** The number of small rollups that are refreshed together. */
const GROUP = 32;
/** A rollup is small up to this number of checkpoints, and this segment size, in charges. */
const [SMALL_CHECKPOINTS, SMALL_SIZE] = [100, 500];

/** What the refreshes of a pass need. */
interface Refreshes {
  readonly concurrency: number;
  readonly stopped: () => boolean;
  /** Runs work for one provider, whose own errors do not stop the pass. */
  readonly attempt: (provider: string, work: () => Promise<void>) => Promise<void>;
  /** Refreshes rollups together. */
  readonly refresh: (group: readonly News[]) => Promise<void>;
}

/** Refreshes rollups. If one of a group fails, the others of the group are refreshed one by one. */
export async function refreshRollups(
  rollups: readonly News[],
  { concurrency, stopped, attempt, refresh }: Refreshes,
): Promise<void> {
  const refreshGroup = async (group: readonly News[]): Promise<void> => {
    const [first] = group;
    if (first && group.length === 1) return attempt(first.provider, () => refresh(group));
    try {
      await refresh(group);
    } catch (error) {
      if (!isProviderSpecific(error)) throw error;
      for (const found of group) await refreshGroup([found]);
    }
  };
  await runTasks(groupsOf(rollups), concurrency, refreshGroup, stopped);
}

function groupsOf(rollups: readonly News[]): News[][] {
  const { small = [], large = [] } = Object.groupBy(rollups, ({ checkpoints, size }) =>
    checkpoints <= SMALL_CHECKPOINTS && size <= SMALL_SIZE ? "small" : "large",
  );
  const groups = large.map((found) => [found]);
  for (let start = 0; start < small.length; start += GROUP) {
    groups.push(small.slice(start, start + GROUP));
  }
  return groups;
}
