/**
 * The facts of an answer: what only the database knows, asked for first. From then on every place in time is a
 * value. A statement that relies on the rollup of the facts reads its version again, in its own snapshot: each
 * change of a rollup has a version of its own, so facts that hold there are facts of that snapshot.
 */
import { fromDatetime } from "../../db/datetime.ts";
import type { Query } from "../../db/query.ts";
import { NOW } from "../../db/sql-time.ts";
import { compileStatement } from "../../db/statement.ts";
import { TABLES } from "../coverage.ts";
import { isLength, type Length } from "../stretches.ts";
import { FORMAT } from "../sums.ts";

/** The rollup that answers of a provider are made with. */
export interface CurrentRollup {
  /** Another one after each change of what the rollup holds. */
  readonly version: string;
  /** The watermark, as DATETIME(3) text in UTC. */
  readonly watermark: string;
  /** Which of the two sets of rows in `rollup_sums` is its own: "0" or "1". */
  readonly slot: string;
  /** The length of its leaves. */
  readonly leaf: Length;
}

/** What an answer is made with. */
export interface Facts {
  /** The instant that all figures relate to, by the database's clock, in epoch ms. Nothing after it counts. */
  readonly now: number;
  /** Undefined if there is none: then everything is read from the ledger. */
  readonly rollup: CurrentRollup | undefined;
}

/**
 * What follows FROM for the provider's rollup. A watermark ahead of the database's clock cannot be
 * true: such a rollup is treated like none, and the next run builds another one.
 */
const ROLLUP = `${TABLES.rollups} WHERE provider_id = :provider AND format = ${FORMAT} AND building = 0
    AND watermark <= ${NOW}`;

/** The aggregates make it one row, of NULLs, without a rollup. */
export const factsStatement = compileStatement(
  {
    facts: {
      select: {
        now: NOW,
        version: "MAX(version)",
        watermark: "MAX(watermark)",
        slot: "MAX(slot)",
        leaf: "MAX(leaf)",
      },
      from: ROLLUP,
    },
  },
  "facts",
);

/** The first query of a statement that relies on the facts: the rollup's version in its snapshot. */
export const CONFIRMED = { select: { version: "MAX(version)" }, from: ROLLUP };

/** Asks for the facts of a provider. Rejects as `query` does. */
export async function readFacts(query: Query, provider: string): Promise<Facts> {
  const { rows } = await factsStatement.run(query, { provider });
  const [{ now, version, watermark, slot, leaf }] = rows.facts as [(typeof rows.facts)[number]];
  // A row whose leaves somebody has changed is none; the next run builds another one.
  const isUsable = version !== "" && isLength(leaf);
  return {
    now: fromDatetime(now),
    rollup: isUsable ? { version, watermark, slot, leaf: leaf as Length } : undefined,
  };
}
