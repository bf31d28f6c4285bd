/** Which providers are too small for a rollup. */
import type { Knex } from "knex";
import { DAY, fromDatetime, toDatetime } from "../../../db/datetime.ts";
import { type Counted, recordedRows } from "../../size.ts";

/**
 * The providers without a rollup that were found to be too small for one, each with the watermark up to which its
 * rows were counted. Several runs of a process share it; it is lost without harm.
 */
export type SmallProviders = Map<string, string>;

/** A provider is counted again after this time, in ms, whatever was recorded: rows may have come late. */
const COUNTED_AGAIN = DAY;

/** A provider without a rollup that has rows. */
export interface Unbuilt {
  readonly provider: string;
  /** When its last row up to the watermark was recorded, as DATETIME(3) text. */
  readonly recorded: string;
}

/** How to look for large providers. */
export interface SizeOptions {
  /** The watermark. */
  readonly until: string;
  /** One that was found small is not counted again before its watermark can move by this much, in ms. */
  readonly step: number;
  /** The rows of a table from which a provider is large. */
  readonly minRows: number;
}

/** Those of some providers that are large. The others are added to `small`. */
export async function findLarge(
  database: Knex,
  unbuilt: readonly Unbuilt[],
  small: SmallProviders,
  { until, step, minRows }: SizeOptions,
): Promise<ReadonlySet<string>> {
  const [before, old] = [step, COUNTED_AGAIN].map((ms) => toDatetime(fromDatetime(until) - ms)) as [
    string,
    string,
  ];
  const isKnown = ({ provider, recorded }: Unbuilt) => {
    const upTo = small.get(provider) ?? "";
    return upTo > old && upTo <= until && (recorded <= upTo || upTo > before);
  };
  const counted = unbuilt.filter((each) => !isKnown(each)).map(({ provider }) => provider);
  const large = await withMinRows(database, counted, until, minRows);
  for (const provider of counted) {
    if (large.has(provider)) small.delete(provider);
    else small.set(provider, until);
  }
  return large;
}

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
