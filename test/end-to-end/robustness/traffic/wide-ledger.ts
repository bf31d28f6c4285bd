/** A ledger with a large breakdown: many servers of one provider, each with a charge. */
import type { TestDatabase } from "../../../support/database.ts";

const SERVERS = 6_000;
const FIRST_ID = 1_000;

/** Adds servers to provider 1 of the small ledger, with charges in March 2024. */
export async function wideLedger({ knex }: Pick<TestDatabase, "knex">): Promise<void> {
  const ids = Array.from({ length: SERVERS }, (_, index) => FIRST_ID + index);
  const servers = ids.map((id) => ({
    id,
    provider_id: 1,
    uuid: `6b0f3d1e-5c0e-4c59-9d0a-${`${id}`.padStart(12, "0")}`,
    name: `server-${id}`,
    type: "GPU",
    status: "Active",
    price_per_hour: "2.5",
    created_at: "2024-01-01 00:00:00.000",
  }));
  const charges = ids.map((id) => ({
    provider_id: 1,
    server_id: id,
    instance_id: null,
    charged_at: "2024-03-10 12:00:00.000",
    gross: "4500.00",
  }));
  await knex.batchInsert("servers", servers, 500);
  await knex.batchInsert("charges", charges, 500);
}
