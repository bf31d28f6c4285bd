/** Which providers a run has to work on. */
import type { Knex } from "knex";
import { FIRST_INSTANT, fromDatetime, toDatetime } from "../../../db/datetime.ts";
import { TABLES } from "../../coverage.ts";
import { MIN_ROWS } from "../../size.ts";
import { FORMAT } from "../../sums.ts";
import type { Clock } from "./clock.ts";
import { findLarge, type SmallProviders, type Unbuilt } from "./size.ts";

/** A provider with news, and its rollup. */
export interface News extends Unbuilt {
  /** The version of the rollup that is read; undefined without one. */
  readonly version: string | undefined;
  readonly watermark: string;
  /** Whether a build is in progress. */
  readonly building: boolean;
  /** Whether the watermark lies in the future, where no correct run can have set it. */
  readonly ahead: boolean;
}

/** The number of providers in one statement. */
const PROVIDERS_PER_QUERY = 2_000;

/** The latest instant in a column up to `until`: one step back from there in the index. */
const latest = (table: string, key: string, column: string, condition = "") =>
  `(SELECT ${column} FROM ${table} FORCE INDEX (${key})
    WHERE provider_id = provider.id AND ${column} <= :until ${condition}
    ORDER BY provider_id DESC, ${column} DESC LIMIT 1)`;

/** Of a provider without a rollup, when its last row was recorded. */
const RECORDED = `CASE WHEN rollup.provider_id IS NULL THEN GREATEST(
    COALESCE(${latest("charges", "charges_by_recording", "recorded_at")}, TIMESTAMP'${FIRST_INSTANT}'),
    COALESCE(${latest("rentals", "rentals_by_update", "updated_at")}, TIMESTAMP'${FIRST_INSTANT}')) END`;

const WATERMARK = `COALESCE(rollup.watermark, TIMESTAMP'${FIRST_INSTANT}')`;

/** By the clock of now, and not that of the run: another run may have moved it since then. */
const AHEAD = "rollup.watermark > UTC_TIMESTAMP(3)";

/**
 * The providers of which a row was recorded, dated or ended between the watermark and the new one, or
 * whose rollup is not as it should be. The latest rows up to the new watermark are compared with the
 * old one, so that a few index entries are read for each provider. The order begins with the provider
 * because MySQL sorts otherwise.
 */
const NEWS = `
  SELECT provider.id, rollup.version, rollup.watermark, ${AHEAD} AS ahead,
    build.provider_id IS NOT NULL AS building, ${RECORDED} AS recorded
  FROM providers AS provider
  LEFT JOIN ${TABLES.rollups} AS rollup
    ON rollup.provider_id = provider.id AND rollup.format = ${FORMAT} AND rollup.building = 0
  LEFT JOIN ${TABLES.rollups} AS build
    ON build.provider_id = provider.id AND build.format = ${FORMAT} AND build.building = 1
  WHERE provider.id BETWEEN :first AND :last
    AND (build.provider_id IS NOT NULL OR ${AHEAD}
      OR (:all AND rollup.provider_id IS NOT NULL)
      OR (${WATERMARK} <= :before AND (
        ${latest("charges", "charges_by_recording", "recorded_at")} > ${WATERMARK}
        OR ${latest("charges", "PRIMARY", "charged_at")} > ${WATERMARK}
        OR ${latest("rentals", "rentals_by_update", "updated_at", "AND ended_at <= :until")} > ${WATERMARK}
        OR ${latest("rentals", "rentals_by_end", "ended_at", "AND updated_at <= :until")} > ${WATERMARK})))
  ORDER BY provider.id`;

/** A row of `NEWS`. */
interface NewsRow {
  readonly id: string | number;
  readonly version: string | number | null;
  readonly watermark: string | null;
  readonly ahead: string | number | null;
  readonly building: string | number;
  readonly recorded: string | null;
}

/** What a search for news takes. */
export interface NewsOptions {
  /** Whether every provider with a rollup counts, for a rebuild. */
  readonly all: boolean;
  /** A watermark waits until it can move by this much, in ms. Default: 0. */
  readonly step?: number;
  /** What earlier runs of the process know of small providers. Default: nothing. */
  readonly small?: SmallProviders;
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
  { all, step = 0, small = new Map(), minRows = MIN_ROWS }: NewsOptions,
): Promise<News[]> {
  const news: News[] = [];
  const before = toDatetime(fromDatetime(until) - step);
  for (let start = 0; start < ids.length; start += PROVIDERS_PER_QUERY) {
    const batch = ids.slice(start, start + PROVIDERS_PER_QUERY);
    const [first, last] = [batch[0] ?? "", batch.at(-1) ?? ""];
    const [rows] = await database.raw(NEWS, { first, last, until, before, all });
    const found = rows.map(
      (row: NewsRow): News => ({
        provider: String(row.id),
        version: row.version === null ? undefined : String(row.version),
        watermark: row.watermark ?? FIRST_INSTANT,
        building: Number(row.building) === 1,
        ahead: Number(row.ahead) === 1,
        recorded: row.recorded ?? FIRST_INSTANT,
      }),
    );
    const hasNone = ({ version, building }: News) => version === undefined && !building;
    const large = await findLarge(database, found.filter(hasNone), small, { until, step, minRows });
    news.push(...found.filter((each: News) => !hasNone(each) || large.has(each.provider)));
  }
  return news;
}
