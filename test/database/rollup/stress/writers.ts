/**
 * Random writers: charges and rentals of all kinds, in transactions that stay open for random
 * times, so that they commit in a different order than they were recorded.
 */
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import type { Knex } from "knex";
import { createRandom } from "../../../../dev/random.ts";
import { fromDatetime, toDatetime } from "../../../../src/db/datetime.ts";
import type { Bulk } from "../../../support/rollup/bulk.ts";
import { draw, SEED } from "../../../support/seed.ts";

const DAY = 86_400_000;
const random = createRandom(SEED);

/** The sum of the pauses in a transaction is at most twice this, in ms. */
const MAX_PAUSES = 480;

/** How far in the future a charge or a rental may be dated, in ms. */
const MAX_AHEAD = 60 * DAY;

/** One transaction: steps with a pause after each. */
const anyTransaction = fc.record({
  commits: fc.constantFrom(true, true, true, false),
  steps: fc.array(
    fc.record({
      kind: fc.constantFrom("charge", "charge", "charge", "rent", "end", "never ran"),
      pause: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: MAX_PAUSES / 3 })),
      /** How long ago it is dated, in ms: just now, late, up to two years ago, or in the future. */
      ago: fc.oneof(
        fc.integer({ min: 0, max: 5_000 }),
        fc.integer({ min: 0, max: 3 * DAY }),
        fc.integer({ min: 0, max: 800 * DAY }),
        fc.integer({ min: -MAX_AHEAD, max: 0 }),
      ),
      cents: fc.integer({ min: -50_000, max: 100_000 }),
      server: fc.nat(),
      instance: fc.nat(),
      hours: fc.integer({ min: 0, max: 300 }),
    }),
    { minLength: 1, maxLength: 6 },
  ),
});

type Plan = typeof anyTransaction extends fc.Arbitrary<infer Value> ? Value : never;
type Step = Plan["steps"][number];

/**
 * Writes until the signal aborts. Resolves to the number of committed transactions.
 *
 * @param margin in ms; a transaction that has been open for a third of it is rolled back: a COMMIT may take long
 */
export async function write(
  database: Knex,
  bulk: Bulk,
  margin: number,
  signal: AbortSignal,
): Promise<number> {
  let committed = 0;
  while (!signal.aborted) {
    for (const plan of draw(random, anyTransaction, 20)) {
      if (signal.aborted) break;
      if (await run(database, bulk, plan, margin)) committed++;
      await sleep(plan.steps[0]?.pause ?? 0);
    }
  }
  return committed;
}

/** Resolves to whether the transaction was committed. */
async function run(database: Knex, bulk: Bulk, plan: Plan, margin: number): Promise<boolean> {
  const transaction = await database.transaction();
  const started = performance.now();
  try {
    for (const step of plan.steps) {
      await runStep(transaction, bulk, step);
      await sleep(step.pause);
    }
    const commit = plan.commits && performance.now() - started < margin * 0.35;
    await (commit ? transaction.commit() : transaction.rollback());
    return commit;
  } catch (error) {
    await transaction.rollback().catch(() => {});
    if (error instanceof Error && "code" in error && error.code === "ER_LOCK_DEADLOCK")
      return false;
    throw error;
  }
}

async function runStep(transaction: Knex.Transaction, bulk: Bulk, step: Step): Promise<void> {
  const first = bulk.provider * 1_000 + 1;
  const owner = {
    provider_id: bulk.provider,
    server_id: first + (step.server % bulk.servers),
    instance_id: step.instance % 4 === 0 ? null : first + (step.instance % bulk.instances),
  };
  const at = Date.now() - step.ago;
  const hours = step.hours * 3_600_000;
  const [dated, later] = [toDatetime(at), toDatetime(at + hours)];
  switch (step.kind) {
    case "charge": {
      const gross = (step.cents / 100).toFixed(2);
      await transaction("charges").insert({ ...owner, charged_at: dated, gross });
      break;
    }
    case "rent":
      await transaction("rentals").insert({ ...owner, started_at: dated });
      break;
    case "never ran": {
      const ended_at = toDatetime(at - 1);
      await transaction("rentals").insert({ ...owner, started_at: later, ended_at });
      break;
    }
    case "end": {
      const running = { provider_id: bulk.provider, ended_at: null };
      const open = await transaction("rentals")
        .where(running)
        .orderBy("id")
        .offset(step.server % 5)
        .first();
      if (open === undefined) break;
      const ended_at = toDatetime(fromDatetime(open.started_at) + hours);
      await transaction("rentals")
        .where({ ...running, id: open.id })
        .update({ ended_at });
    }
  }
}
