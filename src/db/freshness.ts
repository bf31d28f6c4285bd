/**
 * A limit on the age of answers, where reads go to several nodes of which some may be behind.
 *
 * `npm run rollup` writes one row over and over, the heartbeat. A limited read looks at it in the
 * snapshot of its statement, so an answer is as old as the heartbeat that came with it: a node applies
 * commits in their order. One that is too old is not taken; the read is tried again on another
 * connection, which may lead to another node.
 */
import type { Knex } from "knex";
import { FailedAttempt } from "./attempt.ts";
import { fromDatetime } from "./datetime.ts";
import type { Query, Read } from "./query.ts";
import { INSTANT_AND_HEARTBEAT } from "./statement.ts";

/** An answer that must not be given. */
class StaleAnswer extends Error {
  override readonly name = "StaleAnswer";
}

/**
 * Returns a `Read` for compiled statements whose answers are at most `maxLag` ms old. The instant of
 * their snapshot becomes the heartbeat's, or stays the node's own if its clock is behind it: everything
 * that was committed before is in the answer.
 *
 * The age is the difference of two clocks, those of the node and of the one that the heartbeat was
 * written on: where these differ, the age is wrong by as much.
 *
 * @param onAge called with the age of each answer in ms, also of those that are not taken
 */
export function limitAge(read: Read, maxLag: number, onAge: (ms: number) => void = () => {}): Read {
  const limit = (text: string): number => {
    const { instants, age } = parseInstants(text);
    if (!Number.isNaN(age)) onAge(age);
    const problem = problemOf(age, maxLag);
    if (problem !== undefined) throw new FailedAttempt(new StaleAnswer(problem));
    return Math.min(...instants);
  };
  return (work, options) =>
    read((session) => {
      const query: Query = (...sent) => session.query(...sent);
      return work({ ...session, query: Object.assign(query, { limitAge: limit }) });
    }, options);
}

/**
 * Why answers of the node would not be given, in words; undefined if they would. Rejects with the driver's
 * error if it cannot be read.
 */
export async function staleness(database: Knex, maxLag: number): Promise<string | undefined> {
  const [[{ instants }]] = await database.raw(`SELECT ${INSTANT_AND_HEARTBEAT} AS instants`);
  return problemOf(parseInstants(instants).age, maxLag);
}

/** When the statement began and when its heartbeat was written, in epoch ms, and the difference; NaN without one. */
function parseInstants(text: string) {
  const [instant = NaN, heartbeat = NaN] = text.split("/").map(fromDatetime);
  return { instants: [instant, heartbeat], age: instant - heartbeat };
}

function problemOf(age: number, maxLag: number): string | undefined {
  if (Number.isNaN(age)) {
    return "there is no heartbeat, so the age of the data is unknown: run `npm run rollup -- --watch`";
  }
  return age <= maxLag
    ? undefined
    : `the heartbeat is ${age} ms old, ${maxLag} ms are allowed: the node is behind, or \`npm run rollup -- --watch\` does not run`;
}
