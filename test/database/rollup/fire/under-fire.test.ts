/** Exact under fire: no answer ever differs from the raw sums of the snapshot it came from. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseDatabaseUrl } from "../../../../src/config.ts";
import { createPool } from "../../../../src/db/pool.ts";
import { rollUp } from "../../../../src/rollup/write/run.ts";
import { verify } from "../../../../src/rollup/write/verify.ts";
import { createDatabase, type TestDatabase } from "../../../support/database.ts";
import { addBulk, type Bulk } from "../../../support/rollup/bulk.ts";
import {
  type Compared,
  createComparison,
  expectExact,
} from "../../../support/rollup/snapshot-oracle.ts";
import { rollAndDie, rollOn } from "./rollers.ts";
import { write } from "./writers.ts";

const SECONDS = 16;
/** In ms: longer than any writer's transaction is open. */
const MARGIN = 1_000;
const BULKS: readonly Bulk[] = [
  { provider: 1, servers: 8, instances: 12, charges: 3_000, rentals: 400 },
  { provider: 2, servers: 2, instances: 3, charges: 1_500, rentals: 100 },
  // Of this one nothing is still to come, so that its overview can be remembered.
  { provider: 3, servers: 3, instances: 4, charges: 1_000, rentals: 80, ahead: 0 },
];

let database: TestDatabase;
let writers: Knex;
let readers: Knex;
beforeAll(async () => {
  database = await createDatabase();
  writers = createPool(parseDatabaseUrl(database.url));
  readers = createPool(parseDatabaseUrl(database.url));
  await addBulk(database.knex, BULKS);
});
afterAll(async () => {
  await readers.destroy();
  await writers.destroy();
  await database.drop();
});

/** Compares with one service, whose memory outlives many rollups. */
async function ask(stop: AbortSignal, compared: Compared[]): Promise<number> {
  const compare = createComparison(readers);
  let answers = 0;
  for (let turn = 0; !stop.aborted; turn++) {
    const { provider } = BULKS[turn % BULKS.length] as Bulk;
    const comparison = await compare(String(provider));
    compared.push(comparison);
    answers += comparison.answers;
  }
  return answers;
}

it("while charges and rentals come in late, backdated and out of order, and rollups run, are killed and run twice", async () => {
  const end = new AbortController();
  const work = <T>(promise: Promise<T>): Promise<T> =>
    promise.catch((error) => {
      end.abort();
      throw error;
    });
  const compared: Compared[] = [];
  const hands = {
    write: BULKS.flatMap((bulk) => [1, 2, 3].map(() => write(writers, bulk, MARGIN, end.signal))),
    ask: [1, 2, 3].map(() => ask(end.signal, compared)),
    roll: [rollOn(database.knex, MARGIN, end.signal)],
    die: [1, 2].map(() => rollAndDie(database.url, MARGIN, end.signal)),
  };
  const results = Promise.all(
    Object.values(hands).map((hand) => Promise.all(hand.map((promise) => work<number>(promise)))),
  );
  await Promise.race([results, sleep(SECONDS * 1_000)]);
  end.abort();
  const [written, asked, rolled, died] = (await results).map((counts) =>
    counts.reduce((sum, count) => sum + count, 0),
  );
  // What has been under fire at all: enough of everything.
  expect({ written, asked, rolled, died }).toEqual({
    written: expect.toSatisfy((count) => count > 50),
    asked: expect.toSatisfy((count) => count > 100),
    rolled: expect.toSatisfy((count) => count > 0),
    died: expect.toSatisfy((count) => count > 3),
  });
  expect(new Set(compared.map(({ watermark }) => watermark)).size).toBeGreaterThan(5);
  // And the memory: it gave many answers, also across snapshots, and was out of date often.
  const sum = (count: (comparison: Compared) => number | boolean) =>
    compared.reduce((sum, comparison) => sum + Number(count(comparison)), 0);
  const memory = {
    remembered: sum(({ remembered }) => remembered),
    overviews: sum(({ inherited }) => inherited.overview),
    breakdowns: sum(({ inherited }) => inherited.breakdown),
    outdated: sum(({ outdated }) => outdated),
  };
  expect(memory).toEqual({
    remembered: expect.toSatisfy((count) => count > 0.3 * Number(asked)),
    overviews: expect.toSatisfy((count) => count > 2),
    breakdowns: expect.toSatisfy((count) => count > 2),
    outdated: expect.toSatisfy((count) => count > 10),
  });

  await rollUp(database.knex, { margin: 0 });
  for (const { provider } of BULKS) {
    expect(await Array.fromAsync(verify(database.knex, String(provider)))).toEqual([]);
    await expectExact(readers, String(provider));
  }
}, 60_000);
