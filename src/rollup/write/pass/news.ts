/** Which providers a pass has to work on. */
import type { Knex } from "knex";
import { fromDatetime, toDatetime } from "../../../db/datetime.ts";
import { NO_GENERATION } from "../../coverage.ts";
import { TABLES } from "../../tables.ts";
import { DUE_EARLY } from "../check.ts";
import type { Clock } from "./clock.ts";

/** A provider with news, and the state of its rollup. */
export interface News {
  readonly provider: string;
  /** Whether it has a rollup that can be refreshed. */
  readonly built: boolean;
  /** Whether a build is in progress. */
  readonly building: boolean;
  /** The watermark, if it lies in the future, where no correct run can have set it. */
  readonly ahead: string | undefined;
}

/** The number of providers in one statement. */
const BATCH = 2_000;
/** The number of rollups whose check is due that one statement finds. */
const DUE = 1_000;

/** The latest instant in a column up to `until`: one step back from there in the index. */
const latest = (table: string, key: string, column: string, condition = "") =>
  `(SELECT ${column} FROM ${table} FORCE INDEX (${key})
    WHERE provider_id = provider.id AND ${column} <= :until ${condition}
    ORDER BY provider_id DESC, ${column} DESC LIMIT 1)`;

/**
 * The providers of which a row would become covered, or whose rollup is not as it should be. The
 * latest rows up to the new watermark are compared with the old one, so that three index entries
 * are read for each provider. The order begins with the provider because MySQL sorts otherwise.
 */
const NEWS = `
  SELECT provider.id, state.generation, state.build_generation,
         CASE WHEN state.cut > :now THEN state.cut END AS ahead
  FROM providers AS provider LEFT JOIN ${TABLES.state} AS state ON state.provider_id = provider.id
  WHERE provider.id BETWEEN :first AND :last
    AND (state.build_generation IS NOT NULL OR state.cut > :now
      OR (:all AND state.generation > 0)
      OR ${latest("charges", "charges_by_recording", "recorded_at")} > ${watermark()}
      OR ${latest("rentals", "rentals_by_update", "updated_at", "AND ended_at <= :until")} > ${watermark()}
      OR ${latest("rentals", "rentals_by_end", "ended_at", "AND updated_at <= :until")} > ${watermark()})
  ORDER BY provider.id`;

function watermark(): string {
  return "COALESCE(state.cut, TIMESTAMP'1000-01-01 00:00:00')";
}

/**
 * The providers with news, in order of their ids.
 *
 * @param ids of the providers, in order
 * @param all whether every provider with a rollup counts, for a rebuild
 */
export async function findNews(
  database: Knex,
  ids: readonly string[],
  { now, until }: Clock,
  all: boolean,
): Promise<News[]> {
  const news: News[] = [];
  for (let start = 0; start < ids.length; start += BATCH) {
    const batch = ids.slice(start, start + BATCH);
    const [first, last] = [batch[0] ?? "", batch.at(-1) ?? ""];
    const [rows] = await database.raw(NEWS, { first, last, now, until, all });
    for (const { id, generation, build_generation, ahead } of rows) {
      news.push({
        provider: String(id),
        built: String(generation ?? NO_GENERATION) !== NO_GENERATION,
        building: build_generation !== null,
        ahead: ahead ?? undefined,
      });
    }
  }
  return news;
}

/**
 * The providers whose rollups are to be checked: those that are due, then some that are due next.
 *
 * @param period the time within which a whole rollup is compared, in ms
 */
export async function findChecks(
  database: Knex,
  { now }: Clock,
  period: number,
): Promise<{ readonly provider: string; readonly due: boolean }[]> {
  const from = toDatetime(fromDatetime(now) + DUE_EARLY);
  // A time that lies further away was set for a longer period.
  const to = toDatetime(fromDatetime(now) + period + DUE_EARLY);
  const find = (condition: string, bindings: readonly string[], limit: number) =>
    database(TABLES.state)
      .whereRaw(`(${condition}) AND generation > 0`, [...bindings])
      .orderBy("check_at")
      .limit(limit)
      .pluck("provider_id");
  const due = await find("check_at <= ? OR check_at > ?", [from, to], DUE);
  const next = due.length > 0 ? [] : await find("check_at > ? AND check_at <= ?", [from, to], 100);
  return [
    ...due.map((id) => ({ provider: String(id), due: true })),
    ...next.map((id) => ({ provider: String(id), due: false })),
  ];
}
