/** Which providers a run has to work on. */
import type { Knex } from "knex";
import { DAY, FIRST_INSTANT, fromDatetime, toDatetime } from "../../../db/datetime.ts";
import { instant } from "../../../db/sql-time.ts";
import { TABLES } from "../../coverage.ts";
import { type Counted, MIN_ROWS, recordedRows } from "../../size.ts";
import { FORMAT } from "../../sums.ts";
import type { Clock } from "./clock.ts";

/** A provider with news, and its rollup. */
export interface News {
  readonly provider: string;
  /** The version of the rollup that is read; undefined without one. */
  readonly version: string | undefined;
  readonly watermark: string;
  /** Whether a build is in progress. */
  readonly building: boolean;
  /** Whether the watermark lies in the future, where no correct run can have set it. */
  readonly ahead: boolean;
}

/** The number of providers in one statement. */
const PROVIDERS_PER_QUERY = 500;

/** The latest instant in a column up to `until`: one step back from there in the index. */
const latest = (table: string, key: string, column: string, condition = "") =>
  `(SELECT ${column} FROM ${table} FORCE INDEX (${key})
    WHERE provider_id = provider.id AND ${column} <= :until ${condition}
    ORDER BY provider_id DESC, ${column} DESC LIMIT 1)`;

/** Of a provider without a rollup, the watermark up to which its rows were counted. */
const WATERMARK = `COALESCE(rollup.watermark, ${instant(":counted")})`;

/** By the clock of now, and not that of the run: another run may have moved it since then. */
const AHEAD = "rollup.watermark > UTC_TIMESTAMP(3)";

/** Whether a provider has so many rows in a table that it should have a rollup. Counts no further. */
const reaches = (table: Counted, minRows: number) =>
  `(SELECT 1 FROM ${recordedRows(table, "provider.id", ":until")} LIMIT 1 OFFSET ${minRows - 1}) = 1`;

/**
 * The providers of which a row was recorded, dated or ended between the watermark and the new one, or
 * whose rollup is not as it should be. The latest rows up to the new watermark are compared with the
 * old one, so that a few index entries are read for each provider. Those without a rollup are counted last. The order
 * begins with the provider because MySQL sorts otherwise.
 */
const newsOf = (minRows: number) => `
  SELECT provider.id, rollup.version, rollup.watermark, ${AHEAD} AS ahead,
    build.provider_id IS NOT NULL AS building
  FROM providers AS provider
  LEFT JOIN ${TABLES.rollups} AS rollup
    ON rollup.provider_id = provider.id AND rollup.format = ${FORMAT} AND rollup.building = 0
  LEFT JOIN ${TABLES.rollups} AS build
    ON build.provider_id = provider.id AND build.format = ${FORMAT} AND build.building = 1
  WHERE provider.id BETWEEN :first AND :last
    AND (build.provider_id IS NOT NULL OR ${AHEAD}
      OR (:all AND rollup.provider_id IS NOT NULL)
      OR ((rollup.provider_id IS NULL OR rollup.watermark <= :before) AND (
        ${latest("charges", "charges_by_recording", "recorded_at")} > ${WATERMARK}
        OR ${latest("charges", "PRIMARY", "charged_at")} > ${WATERMARK}
        OR ${latest("rentals", "rentals_by_update", "updated_at", "AND ended_at <= :until")} > ${WATERMARK}
        OR ${latest("rentals", "rentals_by_end", "ended_at", "AND updated_at <= :until")} > ${WATERMARK})
        AND (rollup.provider_id IS NOT NULL OR ${reaches("charges", minRows)} OR ${reaches("rentals", minRows)})))
  ORDER BY provider.id`;

/**
 * Up to which watermark all providers without a rollup were found too small for one. Runs of a process share it, and
 * count those again of which a row was recorded since; all after a day, because rows may come late.
 */
export interface Counts {
  upTo: string;
  /** Up to which watermark all were counted, whatever was recorded. */
  all: string;
  /** The number of rollups then. If there are fewer, some are lost, and all providers are counted again. */
  rollups: number;
}

/** Nothing is counted yet. */
export const nothingCounted = (): Counts => ({
  upTo: FIRST_INSTANT,
  all: FIRST_INSTANT,
  rollups: 0,
});

/** What a search for news takes. */
export interface NewsOptions {
  /** Whether every provider with a rollup counts, for a rebuild. */
  readonly all: boolean;
  /** A watermark waits until it can move by this much, in ms. Default: 0. */
  readonly step?: number;
  /** What earlier runs of the process have counted. Default: nothing. */
  readonly counted?: Counts;
  /** The charges, or rentals, from which a provider without a rollup has news. Default: `MIN_ROWS`. */
  readonly minRows?: number;
}

/**
 * The providers with news, in order of their ids. One without a rollup has news if it is large enough for one.
 *
 * @param ids of all providers, in order
 */
export async function findNews(
  database: Knex,
  ids: readonly string[],
  { until }: Pick<Clock, "until">,
  { all, step = 0, counted = nothingCounted(), minRows = MIN_ROWS }: NewsOptions,
): Promise<News[]> {
  const news: News[] = [];
  const [before, dayBefore] = [step, DAY].map((ms) => toDatetime(fromDatetime(until) - ms));
  const current = database(TABLES.rollups).where({ format: FORMAT, building: 0 });
  const { rollups } = await current.first(database.raw("COUNT(*) AS rollups"));
  // Also if the clock was set back.
  const isOld =
    counted.all <= String(dayBefore) || counted.upTo > until || Number(rollups) < counted.rollups;
  if (isOld) Object.assign(counted, { upTo: FIRST_INSTANT, all: until });
  for (let start = 0; start < ids.length; start += PROVIDERS_PER_QUERY) {
    const batch = ids.slice(start, start + PROVIDERS_PER_QUERY);
    const [first, last] = [batch[0] ?? "", batch.at(-1) ?? ""];
    const [rows] = await database.raw(newsOf(minRows), {
      ...{ first, last, until, before, all },
      counted: counted.upTo,
    });
    const found = rows.map(
      (row: Readonly<Record<keyof News | "id", string | number | null>>): News => ({
        provider: String(row.id),
        version: row.version === null ? undefined : String(row.version),
        watermark: String(row.watermark ?? FIRST_INSTANT),
        building: Number(row.building) === 1,
        ahead: Number(row.ahead) === 1,
      }),
    );
    news.push(...found);
  }
  return news;
}
