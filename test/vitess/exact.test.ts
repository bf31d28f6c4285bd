/** Every figure is the sum of the ledger's rows, on shards too: raw, rolled up, and after news. */
import { expect, it } from "vitest";
import { createRandom } from "../../dev/random.ts";
import { toDatetime } from "../../src/db/datetime.ts";
import { createRead } from "../../src/db/query.ts";
import { verify } from "../../src/rollup/write/verify.ts";
import { build } from "../database/rollup/write/built.ts";
import { anyLedger } from "../support/ledger/any-ledger.ts";
import { createExactService } from "../support/ledger/exact.ts";
import { landmarks } from "../support/ledger/instants.ts";
import { anyPeriod, requested } from "../support/ledger/periods.ts";
import { storeLedgers } from "../support/ledger/store.ts";
import { rollUp } from "../support/rollup/roll-up.ts";
import { createComparison } from "../support/rollup/snapshot-oracle.ts";
import { draw, SEED, SEEDED } from "../support/seed.ts";
import { SOAK } from "../support/soak.ts";
import { addProviders, openKeyspace, SHARDED, UNSHARDED } from "./keyspaces.ts";

const PROVIDERS = Array.from({ length: 12 }, (_, nth) => BigInt(96 + nth));
const PERIODS = 10 * SOAK;
const random = createRandom(SEED);

it.each([UNSHARDED, SHARDED])(`of keyspace %s ${SEEDED}`, async (name) => {
  await using keyspace = await openKeyspace(name);
  const { pool, targets } = keyspace;
  const onShards = await addProviders(keyspace, PROVIDERS);
  expect(Math.min(...onShards)).toBeGreaterThan(0);

  for (let turn = 0; turn < 2; turn++) {
    const now = new Date().toISOString();
    const ledgers = PROVIDERS.map((id) => draw(random, anyLedger(id, landmarks(now)), 1)[0]).filter(
      (ledger) => ledger !== undefined,
    );
    // Other rows than those that were covered.
    for (const table of ["rollups", "rollup_sums", "rollup_increments"]) {
      await pool(table).whereIn("provider_id", PROVIDERS.map(String)).del();
    }
    await storeLedgers(pool, ledgers);
    for (const phase of ["before", "after"]) {
      // As the service reads: by statements as text. The ledger stands still.
      const service = createExactService(createRead(pool));
      for (const ledger of ledgers) {
        await service.overview(ledger, now);
        for (const period of draw(random, anyPeriod(now), PERIODS)) {
          await service.breakdown(ledger, now, period);
          await service.charges(7, ledger, now, period);
          const { start, end } = period.resolved;
          await service.breakdown(ledger, now, requested(start, end, now), "America/New_York");
        }
      }
      for (const id of PROVIDERS) await createComparison(pool)(String(id));
      if (phase === "before") {
        for (const target of targets) await rollUp(target, { margin: 0 });
        // In the second turn, one on each target has quarter hours, which few rows have many of.
        if (turn === 1) {
          for (const target of targets) {
            const [id] = await target("rollups")
              .orderBy("provider_id")
              .limit(1)
              .pluck("provider_id");
            await build(target, String(id), toDatetime(Date.now() - 1_000), "P1D");
          }
        }
      }
    }
    for (const [nth, target] of targets.entries()) {
      const found = PROVIDERS.map((id) => Array.fromAsync(verify(target, String(id))));
      expect((await Promise.all(found)).flat(), `target ${nth}`).toEqual([]);
    }
  }
});
