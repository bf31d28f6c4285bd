/**
 * The platform's other services at work: charges and rentals of all kinds, in transactions
 * that stay open for random times, and so commit in another order than they were recorded.
 */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import type { Knex } from "knex";
import { toDatetime } from "../../../../src/db/datetime.ts";
import type { Bulk } from "../../../support/rollup/bulk.ts";

const DAY = 86_400_000;

/** The longest that a transaction is meant to be open, in ms. */
const LONGEST = 480;

/** How far ahead a charge or a rental may be dated, in ms. */
const AHEAD = 60 * DAY;

/** What a writer does in one transaction: some steps, a pause after each. */
const anyWork = fc.record({
  commits: fc.constantFrom(true, true, true, false),
  steps: fc.array(
    fc.record({
      kind: fc.constantFrom("charge", "charge", "charge", "rent", "end", "never ran"),
      pause: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: LONGEST / 3 })),
      /** How long ago it is dated, in ms: now, late, backdated over two years, or to come. */
      ago: fc.oneof(
        fc.integer({ min: 0, max: 5_000 }),
        fc.integer({ min: 0, max: 3 * DAY }),
        fc.integer({ min: 0, max: 800 * DAY }),
        fc.integer({ min: -AHEAD, max: 0 }),
      ),
      cents: fc.integer({ min: -50_000, max: 100_000 }),
      server: fc.nat(),
      instance: fc.nat(),
      hours: fc.integer({ min: 0, max: 300 }),
    }),
    { minLength: 1, maxLength: 6 },
  ),
});

type Work = typeof anyWork extends fc.Arbitrary<infer Value> ? Value : never;
type Step = Work["steps"][number];

/**
 * Writes until it is told to stop; resolves to how many transactions were committed.
 *
 * @param margin a transaction that was open for nearly as long (ms) is rolled back
 */
export async function write(
  database: Knex,
  bulk: Bulk,
  margin: number,
  stop: AbortSignal,
): Promise<number> {
  let committed = 0;
  while (!stop.aborted) {
    for (const work of fc.sample(anyWork, 20)) {
      if (stop.aborted) break;
      if (await perform(database, bulk, work, margin)) committed++;
      await sleep(work.steps[0]?.pause ?? 0);
    }
  }
  return committed;
}

async function perform(database: Knex, bulk: Bulk, work: Work, margin: number): Promise<boolean> {
  const transaction = await database.transaction();
  const begun = performance.now();
  try {
    for (const step of work.steps) {
      await take(transaction, bulk, step);
      await sleep(step.pause);
    }
    const commits = work.commits && performance.now() - begun < margin * 0.7;
    await (commits ? transaction.commit() : transaction.rollback());
    return commits;
  } catch (error) {
    await transaction.rollback().catch(() => {});
    if (error instanceof Error && "code" in error && error.code === "ER_LOCK_DEADLOCK")
      return false;
    throw error;
  }
}

async function take(transaction: Knex.Transaction, bulk: Bulk, step: Step): Promise<void> {
  const first = bulk.provider * 1_000 + 1;
  const place = {
    provider_id: bulk.provider,
    server_id: first + (step.server % bulk.servers),
    instance_id: step.instance % 4 === 0 ? null : first + (step.instance % bulk.instances),
  };
  const at = Date.now() - Math.max(step.ago, -(bulk.ahead ?? AHEAD));
  const later = toDatetime(at + step.hours * 3_600_000);
  switch (step.kind) {
    case "charge": {
      const gross = (step.cents / 100).toFixed(2);
      await transaction("charges").insert({ ...place, charged_at: toDatetime(at), gross });
      break;
    }
    case "rent":
      await transaction("rentals").insert({ ...place, started_at: toDatetime(at) });
      break;
    case "never ran":
      await transaction("rentals").insert({
        ...place,
        started_at: later,
        ended_at: toDatetime(at - 1),
      });
      break;
    case "end": {
      const running = await transaction("rentals")
        .where({ provider_id: bulk.provider, ended_at: null })
        .orderBy("id")
        .limit(1)
        .offset(step.server % 5)
        .first();
      if (running === undefined) break;
      const started = Date.parse(`${running.started_at.replace(" ", "T")}Z`);
      await transaction("rentals")
        .where({ id: running.id, ended_at: null })
        .update({ ended_at: toDatetime(started + step.hours * 3_600_000) });
    }
  }
}
