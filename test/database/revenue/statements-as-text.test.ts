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
import { anyPeriod, requested } from "../../support/ledger/periods.ts";
import { storeLedgers } from "../../support/ledger/store.ts";
import { draw, SEED, SEEDED } from "../../support/seed.ts";
import { SOAK } from "../../support/soak.ts";
import { databaseOfFile } from "../file-database.ts";
import { build } from "../rollup/write/built.ts";

const ASKED = "SELECT @@version";
/** As long as that. */
const VERSION = "SELECT 'Vitess' ";
const PROVIDERS = [2n ** 53n + 1n, 2n ** 64n - 1n];

const random = createRandom(SEED);
const database = await databaseOfFile();
const proxy = await startDatabaseProxy(database.url, (sent) => {
  if (sent.includes(ASKED)) sent.write(VERSION, sent.indexOf(ASKED));
  return false;
});
afterAll(() => proxy.close());

/** How many statements the only session of a pool has prepared, and how many SELECTs it has run. */
async function statementsOf(session: ReturnType<typeof testPool>) {
  const [rows] = await session.raw(
    "SHOW SESSION STATUS WHERE Variable_name IN ('Com_select', 'Com_stmt_prepare')",
  );
  return Object.fromEntries(
    rows.map((row: Record<string, string>) => [row.Variable_name, Number(row.Value)]),
  );
}

it(`figures of statements that are sent as text ${SEEDED}`, async () => {
  const session = testPool(proxy.url, { maxConnections: 1 });
  const now = new Date().toISOString();
  const ledgers = PROVIDERS.map((id) => draw(random, anyLedger(id, landmarks(now)), 1)[0]).filter(
    (ledger) => ledger !== undefined,
  );
  await storeLedgers(database.knex, ledgers);
  const service = createExactService(createRead(session));
  const compare = async () => {
    for (const ledger of ledgers) {
      await service.overview(ledger, now);
      for (const period of draw(random, anyPeriod(now), 5 * SOAK)) {
        await service.breakdown(ledger, now, period);
        const { start, end } = period.resolved;
        await service.breakdown(ledger, now, requested(start, end, now), "Asia/Kolkata");
      }
    }
  };
  await compare();
  for (const { provider } of ledgers)
    await build(database.knex, String(provider), toDatetime(Date.now() - 1_000), "P1D");
  await compare();
  expect(await statementsOf(session)).toMatchObject({ Com_stmt_prepare: 0 });
  expect((await statementsOf(session)).Com_select).toBeGreaterThan(20);
  await session.destroy();
});
