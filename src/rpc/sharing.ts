/**
 * Calls of one provider that ask the same thing at the same time share a run, as transactions
 * share one write of a database's log: while two runs are under way, the calls that come in
 * gather, and the next run answers all of them. So one eager caller costs the database two
 * statements of a kind at a time, however many connections they open.
 *
 * A call never joins a run that has begun: its snapshot would be older than the call, and an
 * answer could lack a charge that its caller knows was made.
 */
import type { Limits } from "../limits.ts";

/** How many runs of one question may be under way at once: a second one where one is slow. */
const MOST_UNDER_WAY = 2;
/** After how many ms a run is no longer waited for: its connection may be dead without a sign. */
const PATIENCE = 1_000;

/** Runs what calls ask for, for all that ask the same. */
export interface Sharing {
  /**
   * Joins the next run of a question. Rejects with what the run rejects with, or with the
   * reason of `limits` as soon as they end; the others' run goes on.
   *
   * @param question who asks what: calls with the same text may get the same answer
   * @param run is given limits that end when the last of the callers has gone
   */
  share<T>(question: string, limits: Limits, run: (limits: Limits) => Promise<T>): Promise<T>;
}

/** A run that is yet to begin, or under way, and whom it answers. */
interface Group {
  readonly controller: AbortController;
  readonly answer: PromiseWithResolvers<unknown>;
  readonly run: (limits: Limits) => Promise<unknown>;
  members: number;
}

interface Question {
  underWay: number;
  next: Group | undefined;
}

/** Makes the sharing of one process. */
export function createSharing(): Sharing {
  const questions = new Map<string, Question>();

  function begin(text: string, question: Question): void {
    const group = question.next;
    question.next = undefined;
    if (group === undefined || group.members === 0) {
      if (question.underWay === 0) questions.delete(text);
      return;
    }
    question.underWay++;
    const over = once(() => {
      question.underWay--;
      begin(text, question);
    });
    const patience = setTimeout(over, PATIENCE).unref();
    Promise.try(group.run, { signal: group.controller.signal })
      .then(group.answer.resolve, group.answer.reject)
      .finally(() => {
        clearTimeout(patience);
        over();
      });
  }

  return {
    share<T>(text: string, limits: Limits, run: (limits: Limits) => Promise<T>) {
      if (limits.signal.aborted) return Promise.reject(limits.signal.reason);
      const question = questions.getOrInsertComputed(text, newQuestion);
      // One whose members have all gone again is over.
      if (!question.next?.members) question.next = newGroup(run);
      const answer = join(question.next, limits);
      if (question.underWay < MOST_UNDER_WAY) begin(text, question);
      return answer as Promise<T>;
    },
  };
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    action();
  };
}

function newQuestion(): Question {
  return { underWay: 0, next: undefined };
}

function newGroup(run: Group["run"]): Group {
  const answer = Promise.withResolvers<unknown>();
  answer.promise.catch(() => {}); // where nobody is left to be told
  return { controller: new AbortController(), answer, run, members: 0 };
}

/** Waits for a group's answer, and leaves the group where the limits end first. */
function join(group: Group, { signal }: Limits): Promise<unknown> {
  group.members++;
  return new Promise((resolve, reject) => {
    const leave = () => {
      reject(signal.reason);
      group.members--;
      if (group.members === 0) group.controller.abort(signal.reason);
    };
    signal.addEventListener("abort", leave, { once: true });
    group.answer.promise
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", leave));
  });
}
