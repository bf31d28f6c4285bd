/** Stores ledgers in the database, and reads what is there as a ledger. */
import type { Knex } from "knex";
import type { Ledger } from "./ledger.ts";

/** How the values of a column are written, and read as text. Null is null. */
interface Kind {
  write(value: never): string;
  read(text: string): string | bigint;
}
type Column = readonly [name: string, kind: Kind];

const text: Kind = { write: (value: string) => value, read: (value) => value };
const integer: Kind = { write: (value: bigint) => String(value), read: BigInt };
/** An integer of the last digit: `12345n` is "123.45" with two. */
const decimal = (digits: number): Kind => ({
  write(value: bigint) {
    const size = String(value < 0n ? -value : value).padStart(digits + 1, "0");
    return `${value < 0n ? "-" : ""}${size.slice(0, -digits)}.${size.slice(-digits)}`;
  },
  read: (value) => BigInt(value.replace(".", "")),
});
/** `2026-11-20T09:30:00.000Z` is `2026-11-20 09:30:00.000`. */
const instant: Kind = {
  write: (value: string) => value.slice(0, -1).replace("T", " "),
  read: (value) => new Date(instantAt(value)).toISOString(),
};

const FIRST = Date.parse("0001-01-01T00:00:00Z");

/** The epoch ms at which a stored date counts: one that does not exist at the last instant before the date that follows it. */
export function instantAt(date: string): number {
  const at = Date.parse(`${date.replace(" ", "T")}Z`);
  const [year = 0, month = 0, day = 0] = date.slice(0, 10).split("-").map(Number);
  const exists = month > 0 && new Date(at).getUTCDate() === day;
  const nextMonth = month === 0 || day > 0 ? month : month - 1;
  // `Date.UTC` takes years up to 99 for others.
  return Math.max(FIRST, exists ? at : new Date(0).setUTCFullYear(year, nextMonth, 1) - 1);
}

/** The tables of a ledger's rows, and the column of each property. */
type Tables = Omit<Ledger, "provider" | "name" | "balance">;
const COLUMNS: {
  [Table in keyof Tables]: Record<keyof Tables[Table][number], Column>;
} = {
  servers: {
    id: ["id", integer],
    uuid: ["uuid", text],
    name: ["name", text],
    type: ["type", text],
    status: ["status", text],
    price: ["price_per_hour", decimal(4)],
    deletedAt: ["deleted_at", instant],
  },
  instances: {
    id: ["id", integer],
    server: ["server_id", integer],
    publicId: ["public_id", text],
    name: ["name", text],
    deletedAt: ["deleted_at", instant],
  },
  rentals: {
    server: ["server_id", integer],
    instance: ["instance_id", integer],
    startedAt: ["started_at", instant],
    endedAt: ["ended_at", instant],
  },
  charges: {
    server: ["server_id", integer],
    instance: ["instance_id", integer],
    at: ["charged_at", instant],
    gross: ["gross", decimal(2)],
  },
  payouts: {
    id: ["id", integer],
    publicId: ["public_id", text],
    paidAt: ["paid_at", instant],
    amount: ["amount", decimal(2)],
    method: ["method", text],
    status: ["status", text],
  },
};
const TABLES = Object.keys(COLUMNS) as (keyof Tables)[];
const columnsOf = (table: keyof Tables) => Object.entries<Column>(COLUMNS[table]);

/** Replaces all rows by those of the ledgers, in one transaction. */
export async function storeLedgers(database: Knex, ledgers: readonly Ledger[]): Promise<void> {
  const rowsOf = (table: keyof Tables) =>
    ledgers.flatMap((ledger) =>
      ledger[table].map((row) => {
        const values = columnsOf(table).map(([property, [name, { write }]]) => {
          const value = row[property as keyof typeof row] as never;
          return [name, value === null ? null : write(value)];
        });
        return { provider_id: String(ledger.provider), ...Object.fromEntries(values) };
      }),
    );
  const wallets = ledgers.flatMap(({ provider, balance }) => {
    if (balance === null) return [];
    const available_balance = decimal(2).write(balance as never);
    return { provider_id: String(provider), available_balance };
  });
  const providers = ledgers.map(({ provider, name }) => ({ id: String(provider), name }));
  await database.transaction(async (transaction) => {
    if (providers.length > 0)
      await transaction("providers").insert(providers).onConflict("id").merge(["name"]);
    await transaction("wallets").del();
    if (wallets.length > 0) await transaction("wallets").insert(wallets);
    for (const table of TABLES) {
      await transaction(table).del();
      const rows = rowsOf(table);
      if (rows.length > 0) await transaction(table).insert(rows);
    }
  });
}

/** Reads all rows of a provider in a snapshot. */
export async function readLedger(reader: Knex.Transaction, provider: string): Promise<Ledger> {
  const stored = (table: string) => reader(table).where({ provider_id: provider });
  const [wallet] = await stored("wallets");
  const [row] = await reader("providers").where({ id: provider });
  const ledger: Record<string, unknown> = {
    provider: BigInt(provider),
    name: row?.name ?? "",
    balance: wallet ? decimal(2).read(wallet.available_balance) : null,
  };
  for (const table of TABLES) {
    const all: Record<string, string | null>[] = await stored(table);
    // A rental that ended before it started never ran.
    const rows = all.filter(
      ({ started_at, ended_at }) => !started_at || !ended_at || ended_at >= started_at,
    );
    ledger[table] = rows.map((row) =>
      Object.fromEntries(
        columnsOf(table).map(([property, [name, { read }]]) => {
          const value = row[name] ?? null;
          return [property, value === null ? null : read(value)];
        }),
      ),
    );
  }
  return ledger as unknown as Ledger;
}
