/** A provider's raw ledger in a snapshot, for the oracle to sum. */
import type { Knex } from "knex";
import type { Ledger } from "../ledger/ledger.ts";

type Row = Readonly<Record<string, string>>;
type NullableRow = Readonly<Record<string, string | null>>;

/** Reads all rows of a provider. */
export async function readLedger(reader: Knex.Transaction, provider: string): Promise<Ledger> {
  const rows = async <R = Row>(table: string): Promise<R[]> =>
    reader(table).where({ provider_id: provider });
  const wallets = await rows("wallets");
  const servers = await rows<Row & { deleted_at: string | null }>("servers");
  const instances = await rows<Row & { deleted_at: string | null }>("instances");
  const rentals = await rows<NullableRow>("rentals");
  const charges = await rows<NullableRow>("charges");
  const payouts = await rows("payouts");
  return {
    provider: BigInt(provider),
    balance: wallets[0] ? units(wallets[0].available_balance) : null,
    servers: servers.map((row) => ({
      id: BigInt(row.id ?? ""),
      uuid: row.uuid ?? "",
      name: row.name ?? "",
      type: row.type ?? "",
      status: row.status ?? "",
      price: units(row.price_per_hour),
      deletedAt: row.deleted_at && iso(row.deleted_at),
    })),
    instances: instances.map((row) => ({
      id: BigInt(row.id ?? ""),
      server: BigInt(row.server_id ?? ""),
      publicId: row.public_id ?? "",
      name: row.name ?? "",
      deletedAt: row.deleted_at && iso(row.deleted_at),
    })),
    rentals: rentals
      .map((row) => ({
        ...place(row),
        startedAt: iso(row.started_at),
        endedAt: row.ended_at ? iso(row.ended_at) : null,
      }))
      // A rental that ended before it started never ran.
      .filter(({ startedAt, endedAt }) => endedAt === null || endedAt >= startedAt),
    charges: charges.map((row) => ({
      ...place(row),
      at: iso(row.charged_at),
      gross: units(row.gross),
    })),
    payouts: payouts.map((row) => ({
      id: BigInt(row.id ?? ""),
      publicId: row.public_id ?? "",
      paidAt: iso(row.paid_at),
      amount: units(row.amount),
      method: row.method ?? "",
      status: row.status ?? "",
    })),
  };
}

function place(row: NullableRow) {
  return {
    server: BigInt(row.server_id ?? ""),
    instance: row.instance_id ? BigInt(row.instance_id) : null,
  };
}

/** `2026-11-20 09:30:00.000` as `2026-11-20T09:30:00.000Z`; the first instant there is for the date zero. */
function iso(datetime: string | null | undefined): string {
  return datetime?.startsWith("0000") ? FIRST : `${datetime?.replace(" ", "T")}Z`;
}
const FIRST = "0001-01-01T00:00:00.000Z";

/** A decimal as an integer of its last digit. */
function units(decimal: string | null | undefined): bigint {
  return BigInt((decimal ?? "").replace(".", ""));
}
