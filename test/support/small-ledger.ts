/** A small ledger whose figures are easy to check by hand. */
import type { TestDatabase } from "./database.ts";

/** Stores two providers. The first has a server, an instance, a rental, two charges and a payout of 2024. */
export async function smallLedger({ knex }: Pick<TestDatabase, "knex">): Promise<void> {
  await knex("providers").insert([
    { id: 1, name: "first" },
    { id: 2, name: "second" },
  ]);
  await knex("wallets").insert({ provider_id: 1, available_balance: "1250.50" });
  const created = { id: 1, provider_id: 1, created_at: "2024-01-01 00:00:00.000" };
  await knex("servers").insert({
    ...created,
    uuid: "6b0f3d1e-5c0e-4c59-9d0a-2f4f4f0d7e11",
    name: "alpha",
    type: "GPU",
    status: "Active",
    price_per_hour: "2.5",
  });
  const server = { provider_id: 1, server_id: 1 };
  const instance = { ...server, instance_id: 1 };
  await knex("instances").insert({ ...created, ...server, public_id: "inst-1", name: "gpu-1" });
  await knex("rentals").insert({
    ...instance,
    started_at: "2024-03-01 00:00:00.000",
    ended_at: "2024-03-31 00:00:00.000",
  });
  await knex("charges").insert([
    { ...instance, charged_at: "2024-03-10 12:00:00.000", gross: "4500.00" },
    { ...server, charged_at: "2024-03-31 23:59:59.999", gross: "0.05" },
  ]);
  await knex("payouts").insert({
    provider_id: 1,
    public_id: "po-1",
    paid_at: "2024-04-01 09:30:00.000",
    amount: "4000.00",
    method: "Bank Transfer",
    status: "Completed",
  });
}
