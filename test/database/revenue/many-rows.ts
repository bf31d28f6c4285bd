/** Tables that are large enough for a full scan to be expensive. */
import type { Knex } from "knex";

/** The providers with many rows. */
export const PROVIDERS = 8;
/** SQL condition on a number: one of the providers with a few rows. */
export const OTHERS = `BETWEEN ${PROVIDERS + 1} AND 500`;
/** Rows of each provider. Most of them are older than the period. */
const ROWS = { servers: 40, instances: 80, rentals: 1_000, charges: 4_000, payouts: 200 };

/** Stores the same rows for every provider, spread over up to three years. */
export async function fill(knex: Knex): Promise<void> {
  await knex.raw("CREATE TABLE many (n INT PRIMARY KEY)");
  await knex("many").insert(Array.from({ length: 4_000 }, (_, n) => ({ n })));
  const from = (rows: number) =>
    `FROM many p, many i WHERE p.n BETWEEN 1 AND ${PROVIDERS} AND i.n < ${rows}`;
  const at = (step: string) => `TIMESTAMP('2026-12-01') - INTERVAL i.n * ${step}`;
  await knex("providers").insert(
    Array.from({ length: PROVIDERS }, (_, index) => ({ id: index + 1, name: "provider" })),
  );
  for (const statement of [
    `INSERT INTO wallets SELECT p.n, 1 FROM many p WHERE p.n BETWEEN 1 AND 500`,
    `INSERT INTO servers (provider_id, uuid, name, status, price_per_hour)
       SELECT p.n, CONCAT(p.n, '-', i.n), 'server', 'Active', 1 ${from(ROWS.servers)}`,
    `INSERT INTO servers (provider_id, uuid, name, status, price_per_hour)
       SELECT p.n, CONCAT(p.n, '-'), 'server', 'Active', 1 FROM many p WHERE p.n ${OTHERS}`,
    `INSERT INTO instances (provider_id, server_id, public_id, name)
       SELECT p.n, i.n % ${ROWS.servers}, 'i', 'instance' ${from(ROWS.instances)}`,
    `INSERT INTO rentals (provider_id, server_id, instance_id, started_at, ended_at)
       SELECT p.n, i.n % ${ROWS.servers}, i.n, ${at("25 HOUR")},
              IF(i.n % 50 = 0, NULL, ${at("25 HOUR")} + INTERVAL 20 HOUR) ${from(ROWS.rentals)}`,
    `INSERT INTO charges (provider_id, server_id, instance_id, charged_at, gross)
       SELECT p.n, i.n % ${ROWS.servers}, i.n % ${ROWS.instances}, ${at("6 HOUR")}, 1.25 ${from(ROWS.charges)}`,
    `INSERT INTO payouts (provider_id, public_id, paid_at, amount, method, status)
       SELECT p.n, 'p', ${at("5 DAY")}, 1, 'Bank Transfer', 'Completed' ${from(ROWS.payouts)}`,
    `INSERT INTO api_keys (provider_id, key_hash)
       SELECT p.n, UNHEX(SHA2(CONCAT(p.n, '-', i.n), 256)) ${from(100)}`,
    "ANALYZE TABLE wallets, servers, instances, rentals, charges, payouts, api_keys",
  ]) {
    await knex.raw(statement);
  }
}
