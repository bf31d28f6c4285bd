/**
 * How every answer of a rollup is made: facts, then one statement. A statement is a pure function of facts and
 * request, and an answer of facts and rows. If the rollup is another one in the snapshot of the statement, the
 * facts are asked for again.
 */
import type { Query, Read, Session } from "../../db/query.ts";
import { ServiceError } from "../../errors.ts";
import type { Context } from "../../handler.ts";
import { MIN_ROWS } from "../size.ts";
import { DamagedRollup, type ReadLedger } from "./damage.ts";
import { type CurrentRollup, type Facts, readFacts } from "./facts.ts";
import type { ReportLag } from "./lag-log.ts";
import { missesRollup } from "./missing.ts";

/** What the rows of a statement led to. */
interface Found<T> {
  readonly value: T;
  /** The number of charges that were read because the rollup did not cover them. */
  readonly uncoveredCharges: number;
  /** The instant of the statement's snapshot, in epoch ms. */
  readonly asOf: number;
}

/** A statement that is ready to be sent. Resolves to undefined if its rollup has changed. */
export type Question<T> = (query: Query) => Promise<Found<T> | undefined>;

/** A compiled statement, by the rows that it leads to. */
interface Sendable<Rows, Parameter extends string> {
  run(
    query: Query,
    values: Readonly<Record<Parameter, string>>,
  ): Promise<{ readonly rows: Rows; readonly asOf: number }>;
}

/** The rows of a statement whose first query, by this name, is `CONFIRMED`. */
interface Confirmed {
  readonly confirmed: readonly { readonly version: string }[];
}

/**
 * Makes a question of a statement that relies on a rollup.
 *
 * @param answer makes an answer of the rows, and counts the charges among them that the rollup did not cover. It
 *   throws `DamagedRollup` if they contradict each other
 */
export function question<Rows extends Confirmed, Parameter extends string, T>(
  rollup: CurrentRollup,
  statement: Sendable<Rows, Parameter>,
  values: Readonly<Record<Parameter, string>>,
  answer: (rows: Rows) => Pick<Found<T>, "value" | "uncoveredCharges">,
): Question<T> {
  return async (query) => {
    const { rows, asOf } = await statement.run(query, values);
    if (rows.confirmed[0]?.version !== rollup.version) return undefined;
    return { ...answer(rows), asOf };
  };
}

/** The same of a statement that reads the ledger alone: it is right with any rollup. */
export function rawQuestion<Rows, Parameter extends string, T>(
  statement: Sendable<Rows, Parameter>,
  values: Readonly<Record<Parameter, string>>,
  answer: (rows: Rows) => Pick<Found<T>, "value" | "uncoveredCharges">,
): Question<T> {
  return async (query) => {
    const { rows, asOf } = await statement.run(query, values);
    return { ...answer(rows), asOf };
  };
}

/**
 * Asks a question that follows from facts. Rejects with a `ServiceError`: `databaseUnavailable` if no statement
 * agrees with its facts, otherwise as `Read` does, or as the question throws.
 */
export type Ask = <T>(
  context: Context,
  questionFor: (facts: Facts) => Question<T>,
) => Promise<Found<T>>;

/** How often facts are asked for: the last time in a transaction, in which nothing can change. */
const TRIES = 3;
/** Facts that were asked for longer ago, in ms, are asked for again, once: the process may have stood still. */
const MAX_AGE = 250;

/**
 * Creates `Ask`.
 *
 * @param readLedger takes turns for answers without a rollup that is damaged
 * @param reportLag told what each answer has read, and of a missing rollup that may be why one came too late
 */
export function createAsk(read: Read, readLedger: ReadLedger, reportLag: ReportLag): Ask {
  return async ({ caller: { providerId: provider }, signal }, questionFor) => {
    const attempt = (withFacts: typeof questionFor) =>
      read((session) => askIn(session, provider, withFacts), { owner: provider, signal });
    let latest: Facts | undefined;
    try {
      const found = await attempt((facts) => {
        latest = facts;
        return questionFor(facts);
      });
      if (latest) report(latest, found.uncoveredCharges);
      return found;
    } catch (error) {
      if (error instanceof DamagedRollup) {
        return readLedger(provider, error.damage, () =>
          attempt(({ now }) => questionFor({ now, rollup: undefined })),
        );
      }
      const isLate = error instanceof ServiceError && error.kind === "deadlineExceeded";
      if (latest && isLate) report(latest);
      throw error;
    }

    function report(facts: Facts, uncoveredCharges?: number): void {
      const tell = (isMissing = false) =>
        reportLag(provider, { facts, uncoveredCharges, isMissing });
      const readMuch = uncoveredCharges === undefined || uncoveredCharges >= MIN_ROWS;
      if (facts.rollup !== undefined || !readMuch) {
        tell();
        return;
      }
      // Nobody waits for it. On a view it fails, which has no key to count by, and no rollup; otherwise the database
      // has other troubles, which are told.
      const { signal } = new AbortController();
      const size = ({ query }: Session) => missesRollup(query, provider);
      read(size, { owner: provider, signal }).then(tell, () => {});
    }
  };
}

/** Asks on one connection. Behind a proxy its statements may still go to several nodes. */
async function askIn<T>(
  { query, transaction }: Session,
  provider: string,
  questionFor: (facts: Facts) => Question<T>,
): Promise<Found<T>> {
  for (let made = 1; made < TRIES; made++) {
    const askedAt = performance.now();
    const facts = await readFacts(query, provider);
    if (made === 1 && performance.now() - askedAt > MAX_AGE) continue;
    const found = await answerWith(facts);
    if (found !== undefined) return found;
  }
  const found = await transaction(async () => answerWith(await readFacts(query, provider)));
  if (found !== undefined) return found;
  const cause = new Error("the rollup differs between statements of one transaction");
  throw new ServiceError("databaseUnavailable", undefined, { cause });

  async function answerWith(facts: Facts): Promise<Found<T> | undefined> {
    const found = await questionFor(facts)(query);
    // Everything that was committed before either instant is in the answer.
    return found && { ...found, asOf: Math.min(found.asOf, facts.now) };
  }
}
