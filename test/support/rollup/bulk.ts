/** Ledgers of many charges, made by the database itself. */
import type { Knex } from "knex";

/** A provider and what it has; ids of servers and instances start at `provider * 1000 + 1`. */
export interface Bulk {
  readonly provider: number;
  readonly servers: number;
  readonly instances: number;
  readonly charges: number;
  readonly rentals?: number;
  /** Over how many days, back from now, the charges and rentals are spread; 760 by default. */
  readonly days?: number;
  /** How far ahead, in ms, what is written later may be dated; 60 days by default. */
  readonly ahead?: number;
}

/** Adds providers with their servers, instances, charges and rentals, each recorded when it happened. */
export async function addBulk(database: Knex, bulks: readonly Bulk[]): Promise<void> {
  await prepareNumbers(database);
  for (const bulk of bulks) {
    await addThings(database, bulk);
    await addCharges(database, bulk);
    await addRentals(database, bulk);
  }
}

/** The numbers 0 to 999 in a table, for INSERT … SELECT. */
async function prepareNumbers(database: Knex): Promise<void> {
  await database.raw("CREATE TABLE IF NOT EXISTS numbers (n INT PRIMARY KEY)");
  await database.raw(
    `INSERT IGNORE INTO numbers VALUES ${Array.from({ length: 1_000 }, (_, n) => `(${n})`)}`,
  );
}

async function addThings(database: Knex, { provider, servers, instances }: Bulk): Promise<void> {
  const first = provider * 1_000 + 1;
  await database("providers").insert({ id: provider, name: `provider ${provider}` });
  await database("wallets").insert({ provider_id: provider, available_balance: "12.34" });
  await database.raw(
    `INSERT INTO servers (id, provider_id, uuid, name, type, status, price_per_hour, deleted_at)
     SELECT ${first} + n, ${provider}, CONCAT('server-', ${first} + n), CONCAT('server ', n % 7), 'GPU',
            IF(n % 5 = 4, 'Maintenance', 'Active'), 1.25 * n, IF(n % 7 = 6, '2026-01-01', NULL)
     FROM numbers WHERE n < ${servers}`,
  );
  if (instances === 0) return;
  await database.raw(
    `INSERT INTO instances (id, provider_id, server_id, public_id, name, deleted_at)
     SELECT ${first} + n, ${provider}, ${first} + n % ${servers}, CONCAT('instance-', ${first} + n),
            CONCAT('instance ', n % 3), IF(n % 6 = 5, '2026-01-01', NULL)
     FROM numbers WHERE n < ${instances}`,
  );
}

/** The rows `i` of a sub-select, from 0 up to a number below a million. */
const rows = (count: number) =>
  `(SELECT a.n * 1000 + b.n AS i FROM numbers AS a CROSS JOIN numbers AS b
    WHERE a.n <= ${Math.floor(count / 1_000)}) AS counted WHERE i < ${count}`;

/** The instant of row `i`, so many steps back from now. */
const at = (count: number, days: number) =>
  `TIMESTAMPADD(MICROSECOND, -1000 * FLOOR((i + 1) * ${(days * 86_400_000) / (count + 1)}), UTC_TIMESTAMP(3))`;

/** Where row `i` belongs: a server, and mostly one of the provider's instances. */
const place = ({ provider, servers, instances }: Bulk) =>
  `${provider * 1_000 + 1} + i % ${servers},
   ${instances === 0 ? "NULL" : `IF(i % 11 = 0, NULL, ${provider * 1_000 + 1} + i % ${instances})`}`;

async function addCharges(database: Knex, bulk: Bulk): Promise<void> {
  const { provider, charges, days = 760 } = bulk;
  await database.raw(
    `INSERT INTO charges (provider_id, server_id, instance_id, charged_at, recorded_at, gross)
     SELECT ${provider}, ${place(bulk)}, ${at(charges, days)}, ${at(charges, days)},
            (i * 7919 % 100000 - 5000) / 100
     FROM ${rows(charges)}`,
  );
}

/** One in ten still runs. */
async function addRentals(database: Knex, bulk: Bulk): Promise<void> {
  const { provider, rentals = 0, days = 760 } = bulk;
  if (rentals === 0) return;
  const started = at(rentals, days);
  const ended = `TIMESTAMPADD(HOUR, i * 31 % 400, ${started})`;
  await database.raw(
    `INSERT INTO rentals (provider_id, server_id, instance_id, started_at, ended_at, updated_at)
     SELECT ${provider}, ${place(bulk)}, ${started}, IF(i % 10 = 0, NULL, ${ended}),
            LEAST(UTC_TIMESTAMP(3), ${ended})
     FROM ${rows(rentals)}`,
  );
}
