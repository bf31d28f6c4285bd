/**
 * How old answers may be, where reads go to several nodes of which some may be behind.
 *
 * `npm run rollup` writes one row over and over, the heartbeat. A statement reads it in its own
 * snapshot, so an answer is as old as the heartbeat that came with it. A node applies commits in
 * their order, so a snapshot with a later heartbeat holds everything that one with an earlier
 * heartbeat does.
 */
import { LRUCache } from "lru-cache";

/** SQL: when the heartbeat of a snapshot was written; NULL if it never was. */
export const HEARTBEAT = "(SELECT written_at FROM heartbeat WHERE id = 1)";

/** The owners whose newest answer is remembered. Least recently used ones are evicted first. */
const MAX_OWNERS = 20_000;

/** What a statement tells of its snapshot. Instants are in epoch ms. */
export interface Snapshot {
  /** When the statement began, by the clock of the node that ran it. */
  readonly instant: number;
  /** When its heartbeat was written, by the clock of the writers' node; NaN without one. */
  readonly heartbeat: number;
  /** The identity of the node, if it is known. */
  readonly server: string | undefined;
}

/** An answer that must not be given. Another node may have a better one. */
export class StaleAnswer extends Error {
  override readonly name = "StaleAnswer";
  /** Whether the node is too old for everybody, and not for this owner only. */
  readonly forEverybody: boolean;

  constructor(message: string, forEverybody: boolean) {
    super(message);
    this.forEverybody = forEverybody;
  }
}

/** The limit on the age of answers, and the newest answer of each owner. */
export interface Freshness {
  /**
   * The instant as of which an answer holds, in epoch ms: everything that was committed before is
   * in it. That is the heartbeat's, or the start of the statement if a clock that is behind says
   * that this was earlier.
   *
   * @throws StaleAnswer if it is older than allowed, or older than an answer that the owner got
   */
  judge(owner: string, snapshot: Snapshot): number;
  /** The node of the owner's newest answer, if it is known. */
  serverOf(owner: string): string | undefined;
}

/**
 * Creates the limit of one process, without any answers.
 *
 * The age is the difference of two clocks, those of the node and of the one that the heartbeat was
 * written on: where these differ, the age is wrong by as much.
 *
 * @param maxLag the greatest age of an answer, in ms
 * @param onAge called with the age of each answer in ms, also of those that are refused
 */
export function createFreshness(maxLag: number, onAge: (ms: number) => void = () => {}): Freshness {
  const newest = new LRUCache<string, { readonly asOf: number; readonly server?: string }>({
    max: MAX_OWNERS,
  });
  return {
    judge(owner, { instant, heartbeat, server }) {
      if (Number.isNaN(heartbeat)) {
        throw new StaleAnswer(
          "there is no heartbeat, which tells the age of the data: run `npm run rollup -- --watch`",
          true,
        );
      }
      const age = instant - heartbeat;
      onAge(age);
      if (age > maxLag) {
        throw new StaleAnswer(
          `the heartbeat is ${age} ms old, ${maxLag} ms are allowed: the node is behind, or \`npm run rollup -- --watch\` does not run`,
          true,
        );
      }
      const asOf = Math.min(instant, heartbeat);
      const given = newest.get(owner)?.asOf ?? -Infinity;
      // One from the future was given while a clock was wrong.
      if (asOf < given && given <= instant + maxLag) {
        throw new StaleAnswer(`the answer is ${given - asOf} ms older than an earlier one`, false);
      }
      newest.set(owner, { asOf, ...(server !== undefined && { server }) });
      return asOf;
    },
    serverOf: (owner) => newest.peek(owner)?.server,
  };
}
