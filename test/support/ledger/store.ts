/** Stores ledgers in the database. */
import type { Knex } from "knex";
import type { Ledger } from "./ledger.ts";

const TABLES = ["wallets", "servers", "instances", "rentals", "charges", "payouts"] as const;

type Rows = Record<(typeof TABLES)[number], Record<string, string | null>[]>;

/** Replaces all rows by those of the ledgers, in one transaction. */
export async function storeLedgers(database: Knex, ledgers: readonly Ledger[]): Promise<void> {
  const stored = ledgers.map(rowsOf);
  await database.transaction(async (transaction) => {
    for (const table of TABLES) {
      await transaction(table).del();
      const rows = stored.flatMap((tables) => tables[table]);
      if (rows.length > 0) await transaction(table).insert(rows);
    }
  });
}

function rowsOf(ledger: Ledger): Rows {
  const provider_id = String(ledger.provider);
  return {
    wallets:
      ledger.balance === null
        ? []
        : [{ provider_id, available_balance: scaled(ledger.balance, 2) }],
    servers: ledger.servers.map((server) => ({
      provider_id,
      id: String(server.id),
      uuid: server.uuid,
      name: server.name,
      type: server.type,
      status: server.status,
      price_per_hour: scaled(server.price, 4),
      deleted_at: datetime(server.deletedAt),
    })),
    instances: ledger.instances.map((instance) => ({
      provider_id,
      id: String(instance.id),
      server_id: String(instance.server),
      public_id: instance.publicId,
      name: instance.name,
      deleted_at: datetime(instance.deletedAt),
    })),
    rentals: ledger.rentals.map((rental) => ({
      provider_id,
      server_id: String(rental.server),
      instance_id: rental.instance === null ? null : String(rental.instance),
      started_at: datetime(rental.startedAt),
      ended_at: datetime(rental.endedAt),
    })),
    charges: ledger.charges.map((charge) => ({
      provider_id,
      server_id: String(charge.server),
      instance_id: charge.instance === null ? null : String(charge.instance),
      charged_at: datetime(charge.at),
      gross: scaled(charge.gross, 2),
    })),
    payouts: ledger.payouts.map((payout) => ({
      provider_id,
      id: String(payout.id),
      public_id: payout.publicId,
      paid_at: datetime(payout.paidAt),
      amount: scaled(payout.amount, 2),
      method: payout.method,
      status: payout.status,
    })),
  };
}

/** `2026-11-20T09:30:00.000Z` as `2026-11-20 09:30:00.000`. */
function datetime(iso: string | null): string | null {
  return iso === null ? null : iso.slice(0, -1).replace("T", " ");
}

/** An integer number of 10^-digits as a decimal: `scaled(12345n, 2)` is "123.45". */
function scaled(units: bigint, digits: number): string {
  const sign = units < 0n ? "-" : "";
  const text = String(units < 0n ? -units : units).padStart(digits + 1, "0");
  return `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}
