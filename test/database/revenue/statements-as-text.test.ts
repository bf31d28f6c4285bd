/**
 * A server that calls itself Vitess gets statements as text, and every figure is the same to the cent. Here
 * it is a server of another kind behind a proxy, which rewrites the question for the version.
 */
import { afterAll, expect, it } from "vitest";
import { createRandom } from "../../../dev/random.ts";
import { toDatetime } from "../../../src/db/datetime.ts";
import { createRead } from "../../../src/db/query.ts";
import { testPool } from "../../support/database.ts";
import { startDatabaseProxy } from "../../support/database-proxy.ts";
import { anyLedger } from "../../support/ledger/any-ledger.ts";
import { createExactService } from "../../support/ledger/exact.ts";
import { landmarks } from "../../support/ledger/instants.ts";
import type { Ledger } from "../../support/ledger/ledger.ts";
import { anyPeriod, requested } from "../../support/ledger/periods.ts";
import { storeLedgers } from "../../support/ledger/store.ts";
import { draw, SEED, SEEDED } from "../../support/seed.ts";
import { SOAK } from "../../support/soak.ts";
import { databaseOfFile } from "../file-database.ts";
import { build } from "../rollup/write/built.ts";

const ASKED = "SELECT @@version";
/** As long as that. */
const VERSION = "SELECT 'Vitess' ";

const database = await databaseOfFile();
const proxy = await startDatabaseProxy(database.url, (sent) => {
  if (sent.includes(ASKED)) sent.write(VERSION, sent.indexOf(ASKED));
  return false;
});
afterAll(() => proxy.close());

it(`figures of statements that are sent as text ${SEEDED}`, async () => {
  const session = testPool(proxy.url, { maxConnections: 1 });
  const now = new Date().toISOString();
  const random = createRandom(SEED);
  const [ledger] = draw(random, anyLedger(2n ** 64n - 1n, landmarks(now)), 1) as [Ledger];
  await storeLedgers(database.knex, [ledger]);
  const service = createExactService(createRead(session));
  for (const hasRollup of [false, true]) {
    const watermark = toDatetime(Date.now() - 1_000);
    if (hasRollup) await build(database.knex, String(ledger.provider), watermark);
    await service.overview(ledger, now);
    for (const period of draw(random, anyPeriod(now), 5 * SOAK)) {
      await service.breakdown(ledger, now, period);
      await service.charges(5, ledger, now, period);
      const { start, end } = period.resolved;
      await service.breakdown(ledger, now, requested(start, end, now), "Asia/Kolkata");
    }
  }
  const [prepared] = await session.raw("SHOW SESSION STATUS LIKE 'Com_stmt_prepare'");
  expect(prepared).toMatchObject([{ Value: "0" }]);
  await session.destroy();
});
