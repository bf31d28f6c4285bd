/**
 * The increments of the provider as a whole. They hold what is covered of their time, also of that which the watermark
 * cuts, of charges alone. Hours are compared with the ledger, and what they lack is added to them; days are made of
 * their hours, and months of their days.
 */
import type { Knex } from "knex";
import {
  EARLIEST,
  FIRST_INSTANT,
  fromDatetime,
  toBoundary,
  toDatetime,
} from "../../db/datetime.ts";
import { millisecondsOf } from "../../db/sql-time.ts";
import { chargeCovered, TABLES } from "../coverage.ts";
import {
  LENGTHS,
  MINUTE,
  PARTS,
  QUARTERS,
  quarterColumn,
  sixHoursOf,
  stretchOf,
} from "../increments.ts";
import { joined, type Leaf, QUARTER } from "../leaves.ts";
import { sumsOf } from "../stored-sums.ts";
import { CHARGE_NAMES, FORMAT, NO_SUMS, plus, type Sums, sumIf } from "../sums.ts";
import { byLeaf } from "./ledger.ts";
import { type Branch, INCREMENTS, type Rollup } from "./state.ts";

/** The columns that place a row, and those of its sums: its own, and those of its quarters. */
const PLACE = ["provider_id", "format", "slot", "length", "part", "at"];
const SUMS = [
  ...CHARGE_NAMES,
  ...QUARTERS.flatMap((nth) => CHARGE_NAMES.map((name) => quarterColumn(name, nth))),
];
const INSERT = `INSERT INTO ${TABLES.increments} (${[...PLACE, ...SUMS].join(", ")})`;
const [SUMMED, NEGATIVE] = [
  SUMS.map((column) => `SUM(${column}) AS ${column}`).join(", "),
  SUMS.map((column) => `-${column} AS ${column}`).join(", "),
];
const DIFFERS = SUMS.map((column) => `SUM(${column}) <> 0`).join(" OR ");

/**
 * What an hour should have, and its row lacks; negative if it has more. In the words of the database, which nobody needs
 * as numbers; null for a quarter that has no charge.
 */
export type HourDifference = Readonly<Record<(typeof SUMS)[number], string | null>> & {
  /** Its start, in epoch ms. */
  readonly start: number;
};

/** The hour of a difference. */
export function leafOf({ start }: HourDifference): Leaf {
  return { from: toDatetime(start), to: toBoundary(start + HOUR) };
}

/** What its quarters lack together. */
export function sumsOfHour(hour: HourDifference): Sums {
  const quarters = QUARTERS.map((nth) =>
    sumsOf(
      Object.fromEntries(
        CHARGE_NAMES.map((name) => [name, hour[quarterColumn(name, nth)] ?? undefined]),
      ),
    ),
  );
  return quarters.reduce(plus, NO_SUMS);
}

/** The kinds of increments. */
type Kind = keyof typeof LENGTHS;

/** What follows FROM for those of a kind in some stretches of time. */
function stored({ provider, slot }: Rollup, kind: Kind, stretches: readonly Leaf[]): Branch {
  const inStretches = stretches.map(() => "at >= ? AND at < ?").join(" OR ");
  const parts = kind === "hour" ? `IN (${PARTS})` : "= 0";
  return {
    sql: `${INCREMENTS} AND length = ${LENGTHS[kind]} AND part ${parts} AND (${inStretches})`,
    bindings: [provider, slot, ...stretches.flatMap(({ from, to }) => [from, to])],
  };
}

/** Compares the hours of some stretches of time with the ledger, in the database: it sends the differences alone. */
export async function compareHours(
  reader: Knex.Transaction,
  rollup: Rollup,
  stretches: readonly Leaf[],
  until: string,
): Promise<HourDifference[]> {
  const quarters = stretches.map(({ from, to }): Branch => {
    // Charges that are dated before the first instant count as dated at it.
    const [after, start] = from === FIRST_INSTANT ? ["", []] : ["AND charged_at >= ?", [from]];
    return {
      sql: `SELECT MIN(charged_at) AS at, ${CHARGE_NAMES.map((name) => `${sumIf(name)} AS ${name}`).join(", ")}
        FROM charges WHERE provider_id = ? ${after} AND charged_at < ? AND ${chargeCovered("?")}
        GROUP BY ${byLeaf("charged_at", QUARTER.length)}`,
      bindings: [rollup.provider, ...start, to, until, until],
    };
  });
  const hours = stored(rollup, "hour", stretches);
  const ofQuarter = QUARTERS.flatMap((nth) =>
    CHARGE_NAMES.map((name) => `CASE WHEN quarter MOD 4 = ${nth} THEN ${name} END`),
  );
  const [rows] = await reader.raw(
    `SELECT hour, ${SUMMED} FROM (
       SELECT quarter DIV 4 AS hour, ${[...CHARGE_NAMES, ...ofQuarter].map((sql, nth) => `${sql} AS ${SUMS[nth]}`).join(", ")}
       FROM (SELECT ${millisecondsOf("at")} DIV ${QUARTER.ms} AS quarter, ${CHARGE_NAMES.join(", ")}
         FROM (${quarters.map(({ sql }) => sql).join(" UNION ALL ")}) AS dated) AS charged
       UNION ALL SELECT ${millisecondsOf("at")} DIV ${HOUR}, ${NEGATIVE} FROM ${hours.sql}) AS hours
     GROUP BY hour HAVING ${DIFFERS} ORDER BY hour`,
    [...quarters, hours].flatMap(({ bindings }) => bindings),
  );
  return rows.map(({ hour, ...sums }: HourDifference & { readonly hour: string | number }) => ({
    ...sums,
    start: EARLIEST + Number(hour) * HOUR,
  }));
}
const HOUR = LENGTHS.hour * MINUTE;

/** What the longer kinds are made of, the start of one, and its quarters. */
const MADE_OF = {
  day: {
    of: "hour",
    start: "DATE(at)",
    quarters: QUARTERS.flatMap((nth) =>
      CHARGE_NAMES.map((name) => `SUM(CASE WHEN part = ${nth} THEN ${name} END)`),
    ),
  },
  month: {
    of: "day",
    start: "DATE(at) - INTERVAL DAYOFMONTH(at) - 1 DAY",
    quarters: SUMS.slice(CHARGE_NAMES.length).map(() => "NULL"),
  },
} as const;
type Longer = keyof typeof MADE_OF;

/** SQL: the rows of days, or of months, as what they are made of has them; of whole ones. */
function made(rollup: Rollup, kind: Longer, stretches: readonly Leaf[]): Branch {
  const { of, start, quarters } = MADE_OF[kind];
  const { sql, bindings } = stored(rollup, of, stretches);
  const sums = [...CHARGE_NAMES.map((name) => `SUM(${name})`), ...quarters];
  return {
    sql: `SELECT provider_id, format, slot, ${LENGTHS[kind]} AS kind, 0 AS parts, ${start} AS start,
        ${sums.map((sum, nth) => `${sum} AS ${SUMS[nth]}`).join(", ")}
      FROM ${sql} GROUP BY provider_id, format, slot, start`,
    bindings,
  };
}

/** The days, or months, that overlap some stretches of time, joined. */
function wholeOf(kind: Longer, stretches: readonly Leaf[]): Leaf[] {
  const whole = new Map<number, Leaf>();
  for (const { from, to } of stretches) {
    const [start] = stretchOf(fromDatetime(from), LENGTHS[kind]);
    const [, end] = stretchOf(fromDatetime(to) - 1, LENGTHS[kind]);
    whole.set(start, { from: toDatetime(start), to: toBoundary(end) });
  }
  return joined([...whole.values()]);
}

/** The number of rows, or of stretches of time, in one INSERT. */
const [ROWS_PER_INSERT, STRETCHES_PER_INSERT] = [500, 64];

/** Adds differences to their hours, and makes the days and months anew that hold them. */
export async function addToIncrements(
  transaction: Knex.Transaction,
  rollup: Rollup,
  hours: readonly HourDifference[],
): Promise<void> {
  for (let first = 0; first < hours.length; first += ROWS_PER_INSERT) {
    // Bound, they would cost the command most of a build.
    const some = hours.slice(first, first + ROWS_PER_INSERT);
    const rows = some.map(({ start, ...sums }) => {
      const place = [
        "?",
        FORMAT,
        rollup.slot,
        LENGTHS.hour,
        sixHoursOf(start),
        `'${toDatetime(start)}'`,
      ];
      return `(${[...place, ...SUMS.map((sum) => sums[sum] ?? "NULL")].join(", ")})`;
    });
    await transaction.raw(
      `${INSERT} VALUES ${rows.join(", ")} ON DUPLICATE KEY UPDATE ${ADD}`,
      some.map(() => rollup.provider),
    );
  }
  let changed = hours.map(leafOf);
  for (const kind of ["day", "month"] as const) {
    changed = wholeOf(kind, changed);
    for (let first = 0; first < changed.length; first += STRETCHES_PER_INSERT) {
      const { sql, bindings } = made(
        rollup,
        kind,
        changed.slice(first, first + STRETCHES_PER_INSERT),
      );
      await transaction.raw(`${INSERT} ${sql} ON DUPLICATE KEY UPDATE ${SET}`, [...bindings]);
    }
  }
}

/** SQL: adds to what is there already, or replaces it. A quarter without a charge has NULL. */
const ADD = SUMS.map((column) => {
  const [before, added] = [`${TABLES.increments}.${column}`, `VALUES(${column})`];
  return `${column} = COALESCE(${before} + ${added}, ${before}, ${added})`;
}).join(", ");
const SET = SUMS.map((column) => `${column} = VALUES(${column})`).join(", ");

/** The starts of the days, or of the months, that overlap a stretch of time and are not what they are made of. */
export async function findWrongIncrements(
  reader: Knex.Transaction,
  rollup: Rollup,
  kind: Longer,
  stretch: Leaf,
): Promise<string[]> {
  const whole = wholeOf(kind, [stretch]);
  const [parts, rows] = [made(rollup, kind, whole), stored(rollup, kind, whole)];
  const [found] = await reader.raw(
    `SELECT start FROM (SELECT start, ${SUMS.join(", ")} FROM (${parts.sql}) AS made
       UNION ALL SELECT at, ${NEGATIVE} FROM ${rows.sql}) AS both_kinds
     GROUP BY start HAVING ${DIFFERS} ORDER BY start`,
    [...parts.bindings, ...rows.bindings],
  );
  return found.map(({ start }: { readonly start: string }) => start);
}
