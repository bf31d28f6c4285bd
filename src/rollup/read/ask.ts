/**
 * How every answer of a rollup is made: facts, then one statement. A statement is a pure function of facts and
 * request, and an answer of facts and rows. If the rollup is another one in the snapshot of the statement, the
 * facts are asked for again.
 */
import type { Query, Read, Session } from "../../db/query.ts";
import { ServiceError } from "../../errors.ts";
import type { Context } from "../../handler.ts";
import { MIN_ROWS } from "../size.ts";
import type { SumsCache } from "./cache.ts";
import { DamagedRollup, type ReadLedger } from "./damage.ts";
import { type CurrentRollup, type Facts, readFacts } from "./facts.ts";
import type { ReportLag } from "./lag-log.ts";
import { missesRollup } from "./missing.ts";

/** What the rows of a statement lead to. */
interface Answered<T> {
  readonly value: T;
  /** The number of charges that were read because the rollup did not cover them. */
  readonly uncoveredCharges: number;
}

/** An answer, and the instant of the earliest of the snapshots that it was made of, in epoch ms. */
interface Found<T> extends Answered<T> {
  readonly asOf: number;
}

/** A compiled statement, by the rows that it leads to. */
interface Sendable<Rows> {
  run(
    query: Query,
    values: Readonly<Record<string, string>>,
  ): Promise<{ readonly rows: Rows; readonly asOf: number }>;
}

/**
 * The statements of a question, of which one is sent: the one that reads the ledger alone, that completes the sums that
 * it reads, or that completes those of the cache.
 */
export type Statements<Rows> = Readonly<Record<"raw" | "full" | "cached", Sendable<Rows>>>;

/** What is asked, given the facts: plain values. */
interface QuestionOf<Rows, Sums, T> {
  /** The rollup that the answer relies on, if there is one. */
  readonly rollup: CurrentRollup | undefined;
  readonly statements: Statements<Rows>;
  readonly values: Readonly<Record<string, string>>;
  /** The sums of the rollup. Without any, `cached` is sent if there is a rollup. */
  readonly stored?: {
    readonly cache?: SumsCache<Sums> | undefined;
    /** Of what they are the sums, as the key of the cache. */
    readonly place: string;
    /** Takes them out of the rows. Throws `DamagedRollup` if they contradict each other. */
    readonly sumsOf: (rows: Rows) => Sums;
  };
  /** @param sums undefined if there are none */
  readonly answer: (rows: Rows, sums: Sums | undefined) => Answered<T>;
}

/** The rows of a statement that relies on a rollup: its first query, by this name, is `CONFIRMED`. */
interface Confirmed {
  readonly confirmed: readonly { readonly version: string }[];
}

/**
 * A question for an answer of a type, whatever its rows and sums are: sends it about a provider. Resolves to undefined
 * if its rollup is another one in the snapshot.
 */
export type Question<T> = (
  query: Query,
  provider: string,
  facts: Facts,
) => Promise<Found<T> | undefined>;

/** Makes a question. */
export function question<Rows extends Confirmed, Sums, T>({
  rollup,
  statements,
  values,
  stored,
  answer,
}: QuestionOf<Rows, Sums, T>): Question<T> {
  return async (query, provider, facts) => {
    const known = rollup && stored?.cache?.get(provider, rollup, stored.place);
    const toRead = known === undefined ? stored : undefined;
    const statement = rollup === undefined ? "raw" : toRead === undefined ? "cached" : "full";
    const { rows, asOf } = await statements[statement].run(query, values);
    if (rollup && rows.confirmed[0]?.version !== rollup.version) return undefined;
    const sums = rollup && toRead ? toRead.sumsOf(rows) : known;
    if (rollup && toRead && sums !== undefined)
      toRead.cache?.put(provider, rollup, toRead.place, sums);
    // Everything that was committed before either instant is in the answer.
    return { ...answer(rows, sums), asOf: Math.min(asOf, facts.now) };
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

/**
 * Creates `Ask`.
 *
 * @param readLedger takes turns for answers without a rollup that is damaged
 * @param reportLag told what each answer has read, and of a missing rollup that may be why one came too late
 */
export function createAsk(read: Read, readLedger: ReadLedger, reportLag: ReportLag): Ask {
  return async ({ caller: { providerId: provider, share }, signal }, questionFor) => {
    const attempt = (withFacts: typeof questionFor) =>
      read((session) => askIn(session, provider, withFacts), { owner: share, signal });
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
      read(size, { owner: share, signal }).then(tell, () => {});
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
    const found = await answerWith(await readFacts(query, provider));
    if (found !== undefined) return found;
  }
  const found = await transaction(async () => answerWith(await readFacts(query, provider)));
  if (found !== undefined) return found;
  const cause = new Error("the rollup differs between statements of one transaction");
  throw new ServiceError("databaseUnavailable", undefined, { cause });

  async function answerWith(facts: Facts): Promise<Found<T> | undefined> {
    return questionFor(facts)(query, provider, facts);
  }
}
