/**
 * Compares responses of the service with the raw ledger of the same snapshot. The service reads
 * in a transaction of the test, which has read the ledger. The service's cache outlives it.
 */
import type { Knex } from "knex";
import { createRandom } from "../../../dev/random.ts";
import type { Query, Row } from "../../../src/db/query.ts";
import { TABLES } from "../../../src/rollup/coverage.ts";
import { REPEATABLE_READ } from "../../../src/rollup/write/state.ts";
import { createExactService } from "../ledger/exact.ts";
import { anyPeriod, type RequestedPeriod, requested } from "../ledger/periods.ts";
import { readLedger } from "../ledger/store.ts";
import { draw, SEED } from "../seed.ts";
import type { StatementName } from "../statements.ts";

const DAY = 86_400_000;
const random = createRandom(SEED);

/** The result of a comparison that found no difference. */
export interface Compared {
  /** The statements of each response: of an overview, and of breakdowns. */
  readonly statements: readonly (readonly StatementName[])[];
  /** The rollup's watermark; `undefined` if there is no rollup. */
  readonly watermark: string | undefined;
}

/**
 * Creates a service, and a function that calls all its RPCs for a provider, with periods of all shapes,
 * and expects every figure to equal the sum of the raw ledger in the same snapshot. Compare one at a time.
 */
export function createComparison(database: Knex): (provider: string) => Promise<Compared> {
  let reader: Knex.Transaction | undefined;
  const query: Query = async (sql, bindings) => {
    const raw = reader?.raw<[Row[], unknown]>(sql, bindings as Knex.RawBinding[]);
    const [rows] = (await raw?.options({ rowsAsArray: true })) ?? [[]];
    return rows;
  };
  const service = createExactService((work) => work({ query, transaction: (inside) => inside() }));
  return async (provider) => {
    const now = new Date().toISOString();
    reader = await database.transaction(undefined, REPEATABLE_READ);
    try {
      const ledger = await readLedger(reader, provider);
      const rollup = await reader(TABLES.rollups)
        .where({ provider_id: provider, building: 0 })
        .first();
      const statements = [await service.overview(ledger, now)];
      for (const period of [...fixedPeriods(now), ...draw(random, anyPeriod(now), 4)]) {
        statements.push(await service.breakdown(ledger, now, period));
      }
      return { statements, watermark: rollup?.watermark };
    } finally {
      await reader.rollback();
    }
  };
}

/** The default, all of time, the future, periods with edges inside days, and an instant. */
function fixedPeriods(now: string): RequestedPeriod[] {
  const ago = (ms: number) => new Date(Date.parse(now) - ms).toISOString();
  return [
    requested("", "", now),
    requested("0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z", now),
    requested(ago(-1), "2999-12-31T23:59:59.999Z", now),
    requested(ago(417 * DAY + 12_345_678), ago(3 * DAY + 7_654_321), now),
    requested(ago(2_000), ago(2_000), now),
    requested(ago(100 * DAY), ago(-1), now),
  ];
}
