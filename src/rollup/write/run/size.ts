/** Which providers are large enough for a rollup. */
import type { Knex } from "knex";
import { type Counted, recordedRows } from "../../size.ts";

/** The number of providers in one statement. */
const PROVIDERS_PER_QUERY = 500;

/** Of some providers, those that have so many charges, or rentals, recorded up to an instant. Counts no further. */
export async function withMinRows(
  database: Knex,
  providers: readonly string[],
  until: string,
  minRows: number,
): Promise<ReadonlySet<string>> {
  const large = new Set<string>();
  const reaches = (table: Counted) =>
    `(SELECT 1 FROM ${recordedRows(table, "provider.id", ":until")} LIMIT 1 OFFSET ${minRows - 1}) = 1`;
  for (let start = 0; start < providers.length; start += PROVIDERS_PER_QUERY) {
    const some = providers.slice(start, start + PROVIDERS_PER_QUERY);
    const [rows] = await database.raw(
      `SELECT provider.id FROM providers AS provider
       WHERE provider.id IN (:some) AND (${reaches("charges")} OR ${reaches("rentals")})`,
      { some, until },
    );
    for (const { id } of rows) large.add(String(id));
  }
  return large;
}
