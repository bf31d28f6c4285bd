/**
 * Waiting for the answer to a statement that is under way: it may never come, or nobody may want
 * it any more.
 *
 * A connection can die without a sign, if its path or its server loses power. TCP would notice
 * after many minutes, and behind a proxy not at all. An answer that is late is not a sign of it
 * either, since a statement may be slow. So the server is asked, over another connection, whether
 * it is working on the statement. That costs nothing unless an answer is late, finds the dead
 * connections under load as well as the idle ones (testing each connection before use would find
 * only those), and never runs a slow statement twice.
 */

import type { SessionState, VisitSession } from "./control.ts";
import type { Session } from "./session.ts";

/**
 * How long a statement whose caller has left may still take, in ms. Most end by themselves in this
 * time. Ending one costs a connection, and another to end it with.
 */
const GRACE = 250;

/** The statement was given up: its connection is dead, or its caller has left. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  readonly code = "PROTOCOL_CONNECTION_LOST";
  /** What the server said about the session. */
  readonly state: SessionState;

  constructor(state: SessionState) {
    super(`no answer from the database; its session is ${state}`);
    this.state = state;
  }
}

/** The caller of a read. */
export interface Caller {
  /** Whether it has left. */
  gone: boolean;
  /** Called when it leaves. */
  onLeave: (() => void) | undefined;
}

/** How to wait. */
interface Waiting {
  readonly session: Session;
  /** When the statement was sent, in ms of `performance.now()`. */
  readonly since: number;
  readonly caller: Caller;
  readonly visit: VisitSession;
  /** After how long without an answer the server is asked, in ms; Infinity for never. */
  readonly timeout: number;
}

/**
 * Settles as the statement does. Rejects with `NoAnswer` if the connection is dead, and after the
 * caller has left and the statement was ended; the connection must not be used again then.
 */
export function answerOf<T>(
  statement: Promise<T>,
  { session, since, caller, visit, timeout }: Waiting,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    let settled = false;
    const settle = () => {
      settled = true;
      clearTimeout(timer);
      caller.onLeave = undefined;
    };

    const abandon = () => {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        settle(); // what the statement says from here on is only the effect of being ended
        reject(new NoAnswer(await visit({ session, since, end: true })));
      }, GRACE);
    };
    const watch = () => {
      timer = setTimeout(async () => {
        const state = await visit({ session, since, end: false });
        if (settled || caller.gone) return;
        if (state === "silent") {
          settle();
          reject(new NoAnswer(state));
        } else watch();
      }, timeout);
    };

    caller.onLeave = abandon;
    if (timeout !== Infinity) watch();
    statement.then(
      (value) => {
        if (settled) return;
        settle();
        resolve(value);
      },
      (error) => {
        if (settled) return;
        settle();
        reject(error);
      },
    );
  });
}
