/** Ledgers for the benchmarks, made by the database itself, evenly busy for 25 months. */
import type { Knex } from "knex";

/** What a ledger holds, of each of its providers. */
export interface LedgerSize {
  readonly providers: number;
  readonly servers: number;
  /** Of each server. */
  readonly instances: number;
  readonly charges: number;
}

/** One provider with 200 servers and 800 instances. */
export const LARGE = { providers: 1, servers: 200, instances: 4 };
/** Providers like the demo's small one. */
export const SMALL = { providers: 32, servers: 3, instances: 2, charges: 2_000 };

const MONTHS = 25;
/** How many rows go into one INSERT. */
const BLOCK = 100_000;
/** A rental for so many charges. */
const CHARGES_PER_RENTAL = 50;

/** Fills an empty, migrated database; the charges end now. */
export async function fillLedger(database: Knex, size: LedgerSize): Promise<void> {
  await numbers(database, Math.max(BLOCK, 1_000));
  for (let provider = 1; provider <= size.providers; provider++) {
    await fillProvider(database, provider, size);
  }
  await database.raw("DROP TABLE numbers");
  await database.raw("ANALYZE TABLE charges, rentals, servers, instances");
}

async function fillProvider(
  database: Knex,
  provider: number,
  { servers, instances, charges }: LedgerSize,
): Promise<void> {
  await database.raw(`INSERT INTO providers (id, name) VALUES (${provider}, 'bench')`);
  await database.raw(`INSERT INTO wallets VALUES (${provider}, 12345.67)`);
  await database.raw(
    `INSERT INTO servers (id, provider_id, uuid, name, type, status, price_per_hour)
     SELECT n + 1, ${provider},
            CONCAT(LPAD(${provider}, 8, '0'), '-0000-4000-8000-', LPAD(n + 1, 12, '0')),
            CONCAT('server-', n + 1), 'GPU', 'Active', 2.5 FROM numbers WHERE n < ${servers}`,
  );
  await database.raw(
    `INSERT INTO instances (id, provider_id, server_id, public_id, name)
     SELECT n + 1, ${provider}, 1 + n DIV ${instances}, CONCAT('inst_', n + 1), CONCAT('gpu-', n + 1)
     FROM numbers WHERE n < ${servers * instances}`,
  );
  await database.raw(
    `INSERT INTO payouts (provider_id, public_id, paid_at, amount, method, status)
     SELECT ${provider}, CONCAT('po_', n), TIMESTAMPADD(DAY, -n * 30, UTC_TIMESTAMP(3)), 1000,
            'Bank Transfer', 'Completed' FROM numbers WHERE n < ${MONTHS}`,
  );
  await inBlocks(charges, (from, count) =>
    database.raw(
      `INSERT INTO charges (provider_id, server_id, instance_id, charged_at, gross, recorded_at)
       SELECT ${provider}, server,
              IF(n % 5 = 0, NULL, (server - 1) * ${instances} + 1 + hash DIV 7 % ${instances}),
              at, IF(n % 97 = 0, -1, 1) * (hash % 5000) / 100, at
       FROM (SELECT n, CAST(CRC32(n) AS SIGNED) AS hash, 1 + CRC32(n) DIV 31 % ${servers} AS server,
                    ${instant("n", charges)} AS at
             FROM (SELECT n + ${from} AS n FROM numbers WHERE n < ${count}) AS block) AS charge`,
    ),
  );
  // Each instance is rented all the time: a rental ends when its instance's next one starts.
  const rentals = Math.floor(charges / CHARGES_PER_RENTAL);
  const all = servers * instances;
  const end = `IF(n + ${all} < ${rentals}, ${instant(`(n + ${all}) * ${CHARGES_PER_RENTAL}`, charges)}, NULL)`;
  await inBlocks(rentals, (from, count) =>
    database.raw(
      `INSERT INTO rentals (provider_id, server_id, instance_id, started_at, ended_at, updated_at)
       SELECT ${provider}, 1 + n % ${all} DIV ${instances}, 1 + n % ${all}, start, end,
              COALESCE(end, start)
       FROM (SELECT n, ${instant(`n * ${CHARGES_PER_RENTAL}`, charges)} AS start, ${end} AS end
             FROM (SELECT n + ${from} AS n FROM numbers WHERE n < ${count}) AS block) AS rental`,
    ),
  );
}

/** Charges of provider 1 that are made in this minute: copies of as many others. */
export async function addCharges(database: Knex, count: number): Promise<void> {
  await database.raw(
    `INSERT INTO charges (provider_id, server_id, instance_id, charged_at, gross)
     SELECT 1, server_id, instance_id, TIMESTAMPADD(SECOND, -(id % 60), UTC_TIMESTAMP(3)), gross
     FROM charges WHERE provider_id = 1 ORDER BY charged_at LIMIT ${count}`,
  );
}

/** The instant of the n-th of all charges, evenly spread, to the millisecond. */
function instant(n: string, charges: number): string {
  const milliseconds = MONTHS * 30.44 * 86_400_000;
  return `TIMESTAMPADD(MICROSECOND, -1000 * FLOOR((${charges} - ${n}) * ${milliseconds / charges}), UTC_TIMESTAMP(3))`;
}

async function inBlocks(
  total: number,
  insert: (from: number, count: number) => PromiseLike<unknown>,
): Promise<void> {
  for (let from = 0; from < total; from += BLOCK) await insert(from, Math.min(BLOCK, total - from));
}

/** A table of the numbers from 0 on, made by doubling. */
async function numbers(database: Knex, count: number): Promise<void> {
  await database.raw("CREATE TABLE numbers (n int NOT NULL PRIMARY KEY)");
  await database.raw("INSERT INTO numbers VALUES (0)");
  for (let size = 1; size < count; size *= 2) {
    await database.raw(`INSERT INTO numbers SELECT n + ${size} FROM numbers`);
  }
}
