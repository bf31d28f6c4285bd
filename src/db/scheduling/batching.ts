/**
 * Batching: reads that arrive while two statements are in flight wait, and the next statement
 * serves several of them, as a group commit serves several transactions. They share what a
 * statement costs whatever it reads: its plan, its round trip, its place in the pool. A read that
 * finds fewer in flight runs at once.
 *
 * A read never joins a statement that has started, whose snapshot could be older than the read. And
 * none waits long because of those beside it: if a shared statement fails, or takes too long on its
 * connection, each read runs alone, and for some seconds no statement is shared.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** How many statements may be in flight: more than one, because one may be slow. */
const MAX_IN_FLIGHT = 2;
/**
 * A statement no longer counts as in flight after this many ms, so that it holds up no other: it is
 * slow, or its server is far away. Most take a fraction of that.
 */
const SLOW = 5;
/**
 * How long a shared statement may take on its connection, in ms. The wait for one does not count: a
 * backlog is no reason to run more statements.
 */
const PATIENCE = 250;
/**
 * How long every read runs alone after that, in ms. Where all shared statements fail (a plan that the
 * database has changed, for example), few reads find out.
 */
const PAUSE = 5_000;
/** A read with less time left, in ms, runs alone: others in its statement could take it. */
const MIN_TIME = 2 * PATIENCE;

/** Until when a caller waits. */
export interface Until {
  /** Aborts when the caller leaves. */
  readonly signal: AbortSignal;
  /** Epoch ms. */
  readonly deadline: number;
}

/** How a shared statement runs. */
export interface Together {
  /** Aborts when the statement takes too long, or the last of its callers leaves. */
  readonly signal: AbortSignal;
  /** To be called when the statement has a connection. */
  readonly onConnection: () => void;
}

/** How items are read. */
export interface BatchOptions<Item, Result> {
  /** The numbers of items that can be read together, ascending. Without any, each is read at once. */
  readonly sizes: readonly number[];
  /** Items with the same key are not read together. */
  keyOf(item: Item): string;
  /** Reads one item. */
  alone(item: Item, signal: AbortSignal): Promise<Result>;
  /** Reads one of `sizes` items; resolves to their results, in order. */
  together(items: readonly Item[], how: Together): Promise<readonly Result[]>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly signal: AbortSignal;
  /** Runs work in the caller's async context, as which it is traced. */
  readonly inContext: <T>(work: () => T) => T;
  readonly result: PromiseWithResolvers<Result>;
  /** Called when the caller leaves. */
  leave(): void;
}

/**
 * Creates the batches of one process: a function that reads one item. It rejects with what reading
 * the item alone rejects with, or with the reason of the caller's signal as soon as that aborts.
 */
export function createBatching<Item, Result>(options: BatchOptions<Item, Result>) {
  type Read = Waiting<Item, Result>;
  const { sizes, keyOf, alone, together } = options;
  /** In the order of their arrival. */
  let waiting: Read[] = [];
  let inFlight = 0;
  let pausedUntil = 0;
  const isPaused = () => performance.now() < pausedUntil;

  /** Takes as many reads as can be run together, in the order of their arrival. */
  function take(): Read[] {
    const byKey = new Map<string, Read>();
    const most = isPaused() ? 1 : (sizes.at(-1) ?? 1);
    for (const read of waiting) {
      if (byKey.size === most) break;
      byKey.getOrInsert(keyOf(read.item), read);
    }
    const size = sizes.findLast((size) => size <= byKey.size) ?? 1;
    const batch = [...byKey.values()].slice(0, size);
    waiting = waiting.filter((read) => !batch.includes(read));
    return batch;
  }

  function start(): void {
    while (waiting.length > 0 && (inFlight < MAX_IN_FLIGHT || isPaused())) {
      const batch = take();
      inFlight++;
      let counted = true;
      const release = () => {
        if (!counted) return;
        counted = false;
        inFlight--;
        start();
      };
      const timer = setTimeout(release, SLOW).unref();
      run(batch).finally(() => {
        clearTimeout(timer);
        release();
      });
    }
  }

  /** Runs reads. Settles when all of them are answered, and never rejects. */
  async function run(batch: readonly Read[]): Promise<void> {
    if (isShared(batch) && (await runTogether(batch))) return;
    await Promise.all(
      batch.map(({ item, signal, inContext, result }) =>
        inContext(() => alone(item, signal)).then(result.resolve, result.reject),
      ),
    );
  }

  /**
   * Runs one statement, in the context of its first caller. Resolves to whether it answered every
   * caller that is still there.
   */
  async function runTogether(batch: readonly [Read, ...Read[]]): Promise<boolean> {
    const controller = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const onConnection = () => {
      timer ??= setTimeout(() => controller.abort(new Error("too slow")), PATIENCE);
    };
    let callers = batch.length;
    const leave = () => {
      callers--;
      if (callers === 0) controller.abort(new Error("every caller has left"));
    };
    for (const read of batch) read.leave = leave;
    const items = batch.map(({ item }) => item);
    const { signal } = controller;
    try {
      const results = await batch[0].inContext(() => together(items, { signal, onConnection }));
      for (const [index, { result }] of batch.entries()) result.resolve(results[index] as Result);
      return true;
    } catch (error) {
      if (callers === 0) return true;
      if (timer === undefined) {
        // It had no connection. Alone, each would have waited in the same queue.
        for (const { result } of batch) result.reject(error);
        return true;
      }
      pausedUntil = performance.now() + PAUSE;
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  return async (item: Item, until: Until): Promise<Result> => {
    const { signal } = until;
    signal.throwIfAborted();
    if (sizes.length === 0 || until.deadline - Date.now() < MIN_TIME) return alone(item, signal);
    const result = Promise.withResolvers<Result>();
    const read: Read = {
      item,
      signal,
      inContext: AsyncLocalStorage.snapshot(),
      result,
      leave() {},
    };
    const leave = () => {
      waiting = waiting.filter((other) => other !== read);
      result.reject(signal.reason);
      read.leave();
    };
    waiting.push(read);
    signal.addEventListener("abort", leave, { once: true });
    start();
    try {
      return await result.promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  };
}

function isShared<Read>(batch: readonly Read[]): batch is [Read, Read, ...Read[]] {
  return batch.length > 1;
}
