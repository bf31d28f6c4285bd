/** A large ledger, made by the database itself: one provider, evenly busy for 25 months. */
import type { Knex } from "knex";

/** 200 servers with 4 instances each. */
const SERVERS = 200;
const INSTANCES = 4;
const MONTHS = 25;
/** How many rows go into one INSERT. */
const BLOCK = 100_000;
/** A rental for so many charges, each as long as that takes. */
const CHARGES_PER_RENTAL = 50;

/** Fills an empty, migrated database with provider 1 and `charges` charges that end now. */
export async function fillLedger(database: Knex, charges: number): Promise<void> {
  await database.raw("INSERT INTO providers (id, name) VALUES (1, 'large')");
  await database.raw("INSERT INTO wallets VALUES (1, 12345.67)");
  await numbers(database, Math.max(BLOCK, 1_000));
  await database.raw(
    `INSERT INTO servers (id, provider_id, uuid, name, type, status, price_per_hour)
     SELECT n + 1, 1, CONCAT('00000000-0000-4000-8000-', LPAD(n + 1, 12, '0')),
            CONCAT('server-', n + 1), 'GPU', 'Active', 2.5 FROM numbers WHERE n < ${SERVERS}`,
  );
  await database.raw(
    `INSERT INTO instances (id, provider_id, server_id, public_id, name)
     SELECT n + 1, 1, 1 + n DIV ${INSTANCES}, CONCAT('inst_', n + 1), CONCAT('gpu-', n + 1)
     FROM numbers WHERE n < ${SERVERS * INSTANCES}`,
  );
  await database.raw(
    `INSERT INTO payouts (provider_id, public_id, paid_at, amount, method, status)
     SELECT 1, CONCAT('po_', n), TIMESTAMPADD(DAY, -n * 30, UTC_TIMESTAMP(3)), 1000, 'Bank Transfer',
            'Completed' FROM numbers WHERE n < ${MONTHS}`,
  );
  await inBlocks(charges, (from, count) =>
    database.raw(
      `INSERT INTO charges (provider_id, server_id, instance_id, charged_at, gross, recorded_at)
       SELECT 1, server, IF(n % 5 = 0, NULL, (server - 1) * ${INSTANCES} + 1 + hash DIV 7 % ${INSTANCES}),
              at, IF(n % 97 = 0, -1, 1) * (hash % 5000) / 100, at
       FROM (SELECT n, CAST(CRC32(n) AS SIGNED) AS hash, 1 + CRC32(n) DIV 31 % ${SERVERS} AS server,
                    ${instant("n", charges)} AS at
             FROM (SELECT n + ${from} AS n FROM numbers WHERE n < ${count}) AS block) AS charge`,
    ),
  );
  await inBlocks(Math.floor(charges / CHARGES_PER_RENTAL), (from, count) =>
    database.raw(
      `INSERT INTO rentals (provider_id, server_id, instance_id, started_at, ended_at, updated_at)
       SELECT 1, server, (server - 1) * ${INSTANCES} + 1 + hash % ${INSTANCES}, at,
              IF(hash % 100 = 0 AND n > ${charges} * 0.99, NULL, TIMESTAMPADD(HOUR, hash % 48, at)),
              TIMESTAMPADD(HOUR, hash % 48, at)
       FROM (SELECT n, CAST(CRC32(n) AS SIGNED) AS hash, 1 + CRC32(n) DIV 31 % ${SERVERS} AS server,
                    ${instant("n", charges)} AS at
             FROM (SELECT (n + ${from}) * ${CHARGES_PER_RENTAL} AS n FROM numbers
                   WHERE n < ${count}) AS block) AS rental`,
    ),
  );
  await database.raw("DROP TABLE numbers");
  await database.raw("ANALYZE TABLE charges, rentals, servers, instances");
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
