/**
 * The refreshes of a pass: small rollups several at a time, then one by one large rollups, those to
 * which many charges are added, and those of a group that failed.
 */
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

/** Refreshes rollups. Small ones come first, so that none waits for a large one. */
export async function refreshRollups(
  rollups: readonly News[],
  { concurrency, stopped, attempt, refresh }: Refreshes,
): Promise<void> {
  const { small = [], large: alone = [] } = Object.groupBy(rollups, (found) =>
    isSmall(found) ? "small" : "large",
  );
  const refreshGroup = async (group: readonly News[]) => {
    try {
      if (group.length === 1) alone.push(...group);
      else await refresh(group);
    } catch (error) {
      if (!isProviderSpecific(error)) throw error;
      alone.push(...group);
    }
  };
  await runTasks(groupsOf(small), concurrency, refreshGroup, stopped);
  const refreshOne = (found: News) => attempt(found.provider, () => refresh([found]));
  await runTasks(alone, concurrency, refreshOne, stopped);
}

function isSmall({ checkpoints, size, manyCharges }: News): boolean {
  return checkpoints <= SMALL_CHECKPOINTS && size <= SMALL_SIZE && !manyCharges;
}

function* groupsOf(rollups: readonly News[]) {
  for (let start = 0; start < rollups.length; start += GROUP) {
    yield rollups.slice(start, start + GROUP);
  }
}
