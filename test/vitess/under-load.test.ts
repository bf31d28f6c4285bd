/** Every answer equals the ledger of its snapshot while writers and the rollups of all shards compete. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { verify } from "../../src/rollup/write/verify.ts";
import { LEDGER } from "../database/file-database.ts";
import { write } from "../database/rollup/stress/writers.ts";
import { addBulk, type Bulk } from "../support/rollup/bulk.ts";
import { rollUp } from "../support/rollup/roll-up.ts";
import { createComparison } from "../support/rollup/snapshot-oracle.ts";
import { SOAK } from "../support/soak.ts";
import { addProviders, type Keyspace, openKeyspace, SHARDED, UNSHARDED } from "./keyspaces.ts";

const DURATION = 30_000 * SOAK;
/** In ms: longer than any writer's transaction is open. */
const MARGIN = 2_000;
const PROVIDERS = [201, 202, 203, 204, 205, 206];

it.each([UNSHARDED, SHARDED])(
  "of keyspace %s",
  async (name) => {
    await using keyspace = await openKeyspace(name);
    const { pool, targets } = keyspace;
    const bulks = await fill(keyspace);
    const signal = AbortSignal.timeout(DURATION);
    let [compared, runs] = [0, 0];
    const compare = async () => {
      const comparison = createComparison(pool);
      while (!signal.aborted) {
        for (const provider of PROVIDERS) await comparison(String(provider));
        compared += PROVIDERS.length;
      }
    };
    const rollUpTarget = async (target: (typeof targets)[number]) => {
      for (; !signal.aborted; runs++) {
        await rollUp(target, { margin: MARGIN, seesTransactions: true, rebuild: runs % 5 === 4 });
        await sleep(200);
      }
    };
    const commits = bulks.map((bulk) => write(pool, bulk, MARGIN, signal));
    await Promise.all([...commits, compare(), ...targets.map(rollUpTarget)]);
    const committed = (await Promise.all(commits)).reduce((sum, count) => sum + count, 0);
    console.log(`${name}: ${compared} comparisons, ${runs} runs, ${committed} transactions`);
    expect(Math.min(compared, runs, committed)).toBeGreaterThan(0);

    for (const target of targets) {
      await rollUp(target, { margin: 0 });
      for (const provider of PROVIDERS) {
        expect(await Array.fromAsync(verify(target, String(provider)))).toEqual([]);
      }
    }
    await clear(keyspace);
  },
  DURATION + 120_000,
);

/** Adds the providers with some thousand rows, each on its shard. */
async function fill(keyspace: Keyspace): Promise<Bulk[]> {
  await clear(keyspace);
  expect(Math.min(...(await addProviders(keyspace, PROVIDERS.map(BigInt))))).toBeGreaterThan(0);
  const size = { servers: 8, instances: 12, charges: 2_000, rentals: 200 };
  const bulks = PROVIDERS.map((provider) => ({ provider, ...size }));
  for (const target of keyspace.targets) {
    const stored = await target("providers").whereIn("id", PROVIDERS).pluck("id");
    await target("providers").whereIn("id", stored).del();
    const own = bulks.filter(({ provider }) => stored.map(Number).includes(provider));
    await addBulk(target, own);
  }
  return bulks;
}

/** One provider at a time: a tablet deletes 10,000 rows at most. */
async function clear({ pool }: Keyspace): Promise<void> {
  for (const table of [...LEDGER, "instances", "servers", "wallets"]) {
    for (const provider of PROVIDERS) await pool(table).where({ provider_id: provider }).del();
  }
}
