/** Puts the demo data into an empty database. */
import type { Knex } from "knex";
import { createLedger, demoTables, type Ledger } from "./ledger.ts";

/** Rows per statement: some 100 kB, well below any `max_allowed_packet`. */
const BATCH = 1000;

/** The database has data of its own, which demo data must not mix with. */
export class NotEmptyError extends Error {
  override readonly name = "NotEmptyError";

  constructor(table: string) {
    super(
      `the database is not empty: the table ${table} has rows. Demo data goes into an empty one`,
    );
  }
}

/** What a provider of the demo has. */
export interface SeededProvider {
  readonly id: number;
  readonly name: string;
  readonly servers: number;
  readonly charges: number;
}

/**
 * Writes the demo data, in one transaction: all of it or nothing. Ids are given, from 1,
 * so that they are known, and so that of two seeds at once one waits for the other's
 * provider 1, and then fails.
 * @param now where the demo's history ends, in epoch milliseconds
 * @param say told of each step, in words for people
 * @throws NotEmptyError where a table of the contract has a row; nothing is written then
 */
export async function seed(
  database: Knex,
  now: number,
  say: (line: string) => void,
): Promise<SeededProvider[]> {
  const ledger = createLedger(now);
  await database.transaction(async (transaction) => {
    await refuseRows(transaction);
    for (const table of demoTables) {
      const rows = ledger[table];
      say(`${table}: ${rows.length.toLocaleString("en-US")} rows`);
      for (let start = 0; start < rows.length; start += BATCH) {
        await transaction(table)
          .insert(rows.slice(start, start + BATCH))
          .catch(explainDuplicate);
      }
    }
  });
  return summaryOf(ledger);
}

async function refuseRows(transaction: Knex): Promise<void> {
  for (const table of [...demoTables, "api_keys"]) {
    const row: unknown = await transaction(table).first(transaction.raw("1"));
    if (row !== undefined) throw new NotEmptyError(table);
  }
}

/** An id that was free a moment ago is taken: another seed was faster. */
function explainDuplicate(thrown: unknown): never {
  if (thrown instanceof Error && "code" in thrown && thrown.code === "ER_DUP_ENTRY") {
    throw new NotEmptyError("providers");
  }
  throw thrown;
}

function summaryOf({ providers, servers, charges }: Ledger): SeededProvider[] {
  return providers.map((provider) => {
    const isIts = (row: { readonly provider_id?: unknown }) => row.provider_id === provider.id;
    return {
      id: Number(provider.id),
      name: String(provider.name),
      servers: servers.filter(isIts).length,
      charges: charges.filter(isIts).length,
    };
  });
}
