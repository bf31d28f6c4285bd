/**
 * Statements whose parameters depend on the calendar: on the starts of days or months before *now*. Only the
 * statement itself tells *now*, so the parameters follow from an estimate.
 */
import { ServiceError } from "../errors.ts";

/** What a statement with an estimate led to. */
export interface Estimated<T> {
  /** The instant of the statement, in epoch ms. */
  readonly now: number;
  /** Undefined if the parameters do not suit it. */
  readonly answer: T | undefined;
}

/**
 * The first time, `now` is this host's estimate, then it is what the database said. Twice, because a day can begin
 * there between the two.
 */
const ATTEMPTS = 3;

/**
 * Runs `attempt` with an estimate of *now* (epoch ms), and with the database's own while there is no answer.
 * Rejects with a `ServiceError`, as `attempt` does, or if the database's nodes do not agree on the time.
 */
export async function withEstimatedNow<T>(
  estimate: number,
  attempt: (now: number) => Promise<Estimated<T>>,
): Promise<T> {
  let estimated = estimate;
  for (let made = 0; made < ATTEMPTS; made++) {
    const { now, answer } = await attempt(estimated);
    if (answer !== undefined) return answer;
    estimated = now;
  }
  const cause = new Error("the clocks of the database's nodes differ too much");
  throw new ServiceError("databaseUnavailable", undefined, { cause });
}
