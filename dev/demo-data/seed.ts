/** Loads the demo data into an empty database. */
import type { Knex } from "knex";
import { createLedger, demoTables, type Ledger } from "./ledger.ts";

/** Rows per INSERT: about 100 kB, well below the default `max_allowed_packet`. */
const BATCH = 1000;

/** The database already has data, so demo data is not loaded. */
export class NotEmptyError extends Error {
  override readonly name = "NotEmptyError";

  constructor(table: string) {
    super(
      `the database is not empty: table ${table} has rows. Demo data requires an empty database`,
    );
  }
}

/** A provider of the demo and its number of rows. */
export interface SeededProvider {
  readonly id: number;
  readonly name: string;
  readonly servers: number;
  readonly charges: number;
}

/**
 * Writes the demo data in one transaction. Ids are explicit and start at 1: of two concurrent
 * calls, the second waits for the first one's provider 1 and then fails.
 *
 * @param now the end of the demo's history, in epoch ms
 * @param log receives a line for each table
 * @throws NotEmptyError if a table has a row; nothing is written then
 */
export async function seed(
  database: Knex,
  now: number,
  log: (line: string) => void,
): Promise<SeededProvider[]> {
  const ledger = createLedger(now);
  await database.transaction(async (transaction) => {
    await requireEmpty(transaction);
    for (const table of demoTables) {
      const rows = ledger[table];
      log(`${table}: ${rows.length.toLocaleString("en-US")} rows`);
      for (let start = 0; start < rows.length; start += BATCH) {
        await transaction(table)
          .insert(rows.slice(start, start + BATCH))
          .catch(throwNotEmptyOnDuplicate);
      }
    }
  });
  return summaryOf(ledger);
}

async function requireEmpty(transaction: Knex): Promise<void> {
  for (const table of [...demoTables, "api_keys", "rollups"]) {
    const row: unknown = await transaction(table).first(transaction.raw("1"));
    if (row !== undefined) throw new NotEmptyError(table);
  }
}

/** A duplicate id means that a concurrent call wrote the demo data first. */
function throwNotEmptyOnDuplicate(thrown: unknown): never {
  if (thrown instanceof Error && "code" in thrown && thrown.code === "ER_DUP_ENTRY") {
    throw new NotEmptyError("providers");
  }
  throw thrown;
}

function summaryOf({ providers, servers, charges }: Ledger): SeededProvider[] {
  return providers.map((provider) => {
    const belongs = (row: { readonly provider_id?: unknown }) => row.provider_id === provider.id;
    return {
      id: Number(provider.id),
      name: String(provider.name),
      servers: servers.filter(belongs).length,
      charges: charges.filter(belongs).length,
    };
  });
}
