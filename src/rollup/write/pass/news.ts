/** Which providers a pass has to work on. */
import type { Knex } from "knex";
import { fromDatetime, toDatetime } from "../../../db/datetime.ts";
import { NO_GENERATION, NO_WATERMARK } from "../../coverage.ts";
import { TABLES } from "../../tables.ts";
import { DUE_EARLY } from "../check.ts";
import { ownersOf, sizeFor } from "../ledger/segment.ts";
import type { Clock } from "./clock.ts";

/** A provider with news, and the state of its rollup. */
export interface News {
  readonly provider: string;
  /** The generation that is read; `NO_GENERATION` without one. */
  readonly generation: string;
  readonly watermark: string;
  /** Whether a build is in progress. */
  readonly building: boolean;
  /** Whether the watermark lies in the future, where no correct run can have set it. */
  readonly ahead: boolean;
  /** The segment size, in charges. */
  readonly size: number;
  /** The number of checkpoints of that generation. */
  readonly checkpoints: number;
  /** Whether more than `MANY_CHARGES` would become covered. */
  readonly manyCharges: boolean;
}

/** The number of providers in one statement. */
const BATCH = 2_000;
/** Where more charges become covered, a refresh costs much more than its statements. */
const MANY_CHARGES = 250;
/** The number of rollups whose check is due, and that of others, which one statement finds. */
const [DUE, EARLY] = [1_000, 20];

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
  SELECT provider.id, state.generation, state.build_generation, state.cut, state.cut > :now AS ahead,
         ${ownersOf("provider.id")} AS owners,
         (SELECT COUNT(*) FROM ${TABLES.checkpoints} AS checkpoint
          WHERE checkpoint.provider_id = provider.id
            AND checkpoint.generation = state.generation) AS checkpoints,
         (SELECT recorded_at FROM charges FORCE INDEX (charges_by_recording)
          WHERE provider_id = provider.id AND recorded_at > state.cut AND recorded_at <= :until
          LIMIT 1 OFFSET ${MANY_CHARGES}) IS NOT NULL AS many_charges
  FROM providers AS provider LEFT JOIN ${TABLES.state} AS state ON state.provider_id = provider.id
  WHERE provider.id BETWEEN :first AND :last
    AND (state.build_generation IS NOT NULL OR state.cut > :now
      OR (:all AND state.generation > 0)
      OR (${watermark()} <= :before AND (
        ${latest("charges", "charges_by_recording", "recorded_at")} > ${watermark()}
        OR ${latest("rentals", "rentals_by_update", "updated_at", "AND ended_at <= :until")} > ${watermark()}
        OR ${latest("rentals", "rentals_by_end", "ended_at", "AND updated_at <= :until")} > ${watermark()})))
  ORDER BY provider.id`;

function watermark(): string {
  return `COALESCE(state.cut, TIMESTAMP'${NO_WATERMARK}')`;
}

/** What a search for news takes. */
export interface NewsOptions {
  /** Whether every provider with a rollup counts, for a rebuild. */
  readonly all: boolean;
  /** A watermark waits until it can move by this much, in ms. Default: 0. */
  readonly step?: number;
}

/** The providers with news, in order of their ids. `ids` are those of all providers, in order. */
export async function findNews(
  database: Knex,
  ids: readonly string[],
  { now, until }: Clock,
  { all, step = 0 }: NewsOptions,
): Promise<News[]> {
  const news: News[] = [];
  const before = toDatetime(fromDatetime(until) - step);
  for (let start = 0; start < ids.length; start += BATCH) {
    const batch = ids.slice(start, start + BATCH);
    const [first, last] = [batch[0] ?? "", batch.at(-1) ?? ""];
    const [rows] = await database.raw(NEWS, { first, last, now, until, before, all });
    for (const row of rows) {
      news.push({
        provider: String(row.id),
        generation: String(row.generation ?? NO_GENERATION),
        watermark: row.cut ?? NO_WATERMARK,
        building: row.build_generation !== null,
        ahead: Number(row.ahead) === 1,
        size: sizeFor(Number(row.owners)),
        checkpoints: Number(row.checkpoints),
        manyCharges: Number(row.many_charges) === 1,
      });
    }
  }
  return news;
}

/** A rollup to check. */
export interface DueCheck {
  readonly provider: string;
  /** Whether its next slice is due already. */
  readonly due: boolean;
  /** The database's clock, in epoch ms. */
  readonly now: number;
}

/**
 * The providers whose rollups are to be checked: those that are due, or some that are due next.
 *
 * @param period the time within which a whole rollup is compared, in ms
 */
export async function findChecks(database: Knex, period: number): Promise<DueCheck[]> {
  const soon = `UTC_TIMESTAMP(3) + INTERVAL ${DUE_EARLY * 1_000} MICROSECOND`;
  // A time that lies further away was set for a longer period.
  const far = `${soon} + INTERVAL ${Math.round(period * 1_000)} MICROSECOND`;
  const find = async (condition: string, due: boolean, limit: number) => {
    const rows = await database(TABLES.state)
      .whereRaw(`(${condition}) AND generation > 0`)
      .orderBy("check_at")
      .limit(limit)
      .select("provider_id", database.raw("UTC_TIMESTAMP(3) AS now"));
    return rows.map(({ provider_id, now }) => ({
      ...{ provider: String(provider_id), due, now: fromDatetime(now) },
    }));
  };
  const due = await find(`check_at <= ${soon} OR check_at > ${far}`, true, DUE);
  if (due.length > 0) return due;
  return find(`check_at > ${soon} AND check_at <= ${far}`, false, EARLY);
}
