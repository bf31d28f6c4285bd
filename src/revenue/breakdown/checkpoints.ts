/**
 * The checkpoints around the edges of a period, from a statement of their own. It also lists the
 * latest checkpoints, which are cached, so that most further periods do without it.
 *
 * What is found may be outdated when it is used, because the rollup was built again or a segment
 * split. So the statement that reads totals at a checkpoint tells those around the edge again
 * (`isAround`). If they differ, the caller forgets the list.
 */
import { LRUCache } from "lru-cache";
import type { Read, ReadOptions } from "../../db/query.ts";
import { MAX_LATEST } from "../../rollup/read/sql.ts";
import { END, indexAfter } from "../../rollup/timeline.ts";
import type { Edges } from "./edge.ts";
import { breakdownCheckpoints } from "./queries.ts";

/** The checkpoints before an instant ("" if there is none) and after it. */
export interface Around {
  readonly before: string;
  readonly after: string;
}

/** The checkpoints of all providers. */
export interface Checkpoints {
  /** Those around the edges of a provider's period. Rejects as `Read` does. */
  around(provider: string, edges: Edges<string>, options: ReadOptions): Promise<Edges<Around>>;
  /** Forgets those of a provider: they were outdated. */
  forget(provider: string): void;
}

/**
 * The maximum size of the cache, in checkpoints of about 50 bytes: those of ten thousand small
 * providers. Least recently used providers are evicted first.
 */
const MAX_SIZE = 200_000;
/** The memory of a provider beyond its checkpoints, expressed in checkpoints. */
const PROVIDER_OVERHEAD = 5;

/** Those around an instant; undefined if the list does not tell. */
export function aroundIn(latest: readonly string[], instant: string): Around | undefined {
  const index = indexAfter(latest, instant);
  const after = latest[index];
  if (after === undefined) return undefined;
  // The list begins with the first checkpoint of all, if there are not more of them.
  if (index === 0 && latest.length === MAX_LATEST) return undefined;
  return { before: latest[index - 1] ?? "", after };
}

/** Creates an empty cache. */
export function createCheckpoints(read: Read): Checkpoints {
  const cache = new LRUCache<string, readonly string[]>({
    maxSize: MAX_SIZE,
    sizeCalculation: (latest) => PROVIDER_OVERHEAD + latest.length,
  });
  return {
    async around(provider, { start, end }, options) {
      const latest = cache.get(provider) ?? [];
      const known = { start: aroundIn(latest, start), end: aroundIn(latest, end) };
      if (known.start && known.end) return { start: known.start, end: known.end };
      const values = { provider, before: start, end };
      const { rows } = await breakdownCheckpoints.run(read, values, options);
      cache.set(provider, rows.latest.map(({ at }) => at).reverse());
      const [found = { beforeStart: "", afterStart: END, beforeEnd: "", afterEnd: END }] =
        rows.checkpoints;
      return {
        start: { before: found.beforeStart, after: found.afterStart },
        end: { before: found.beforeEnd, after: found.afterEnd },
      };
    },
    forget: (provider) => {
      cache.delete(provider);
    },
  };
}
