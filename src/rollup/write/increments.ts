/**
 * The increments of the provider as a whole. They hold what is covered of their time, also of that which the watermark
 * cuts, of charges alone. Hours are compared with the ledger, and what they lack is added to them; days are made of
 * their hours, and months of their days.
 */
import type { Knex } from "knex";
import { EARLIEST, FIRST_INSTANT, toBoundary, toDatetime } from "../../db/datetime.ts";
import { millisecondsOf } from "../../db/sql-time.ts";
import { CHARGES, TABLES } from "../coverage.ts";
import { LENGTHS, PARTS, QUARTERS, quarterColumn, sixHoursOf } from "../increments.ts";
import {
  byStretch,
  joined,
  justBefore,
  QUARTER,
  type Stretch,
  startOf,
  stretchAt,
} from "../stretches.ts";
import { CHARGE_NAMES, FORMAT, sumOf } from "../sums.ts";
import { type Branch, differing, union } from "./differing.ts";
import { INCREMENTS, type Rollup } from "./state.ts";

/** The columns that place a row, and those of its sums: its own, and those of its quarters. */
const PLACE = ["provider_id", "format", "slot", "length", "part", "at"];
const SUMS = [
  ...CHARGE_NAMES,
  ...QUARTERS.flatMap((nth) => CHARGE_NAMES.map((name) => quarterColumn(name, nth))),
];
const INSERT = `INSERT INTO ${TABLES.increments} (${[...PLACE, ...SUMS].join(", ")})`;

/**
 * What a quarter of an hour should have, and its increment lacks; negative if it has more. In the words of the database,
 * which nobody needs as numbers.
 */
export type QuarterDifference = Readonly<Record<(typeof CHARGE_NAMES)[number], string>> & {
  /** Its start, in epoch ms. */
  readonly start: number;
};

/** The quarter of an hour of a difference. */
export function leafOf({ start }: QuarterDifference): Stretch {
  return { from: toDatetime(start), to: toBoundary(start + QUARTER.ms) };
}

/** The kinds of increments, and the stretches that they are of. */
const KINDS = { hour: "PT1H", day: "P1D", month: "P1M" } as const;
type Kind = keyof typeof KINDS;

/** SQL: expressions by the names of the columns; NULL for the last ones that there is no expression for. */
const named = (expressions: readonly string[]) =>
  SUMS.map((column, nth) => `${expressions[nth] ?? "NULL"} AS ${column}`).join(", ");

/** What follows FROM for those of a kind in some stretches of time. */
function stored({ provider, slot }: Rollup, kind: Kind, stretches: readonly Stretch[]): Branch {
  const inStretches = stretches.map(() => "at >= ? AND at < ?").join(" OR ");
  const parts = kind === "hour" ? `IN (${PARTS})` : "= 0";
  return {
    sql: `${INCREMENTS} AND length = ${LENGTHS[kind]} AND part ${parts} AND (${inStretches})`,
    bindings: [provider, slot, ...stretches.flatMap(({ from, to }) => [from, to])],
  };
}

/** Compares the quarter hours of some whole hours with the ledger, in the database: it sends the differences alone. */
export async function compareQuarters(
  reader: Knex.Transaction,
  rollup: Rollup,
  stretches: readonly Stretch[],
  until: string,
): Promise<QuarterDifference[]> {
  const ofLedger = stretches.map(({ from, to }): Branch => {
    // Charges that are dated before the first instant count as dated at it.
    const [after, start] = from === FIRST_INSTANT ? ["", []] : ["AND charged_at >= ?", [from]];
    return {
      sql: `SELECT MIN(charged_at) AS at, ${CHARGE_NAMES.map((name) => `${sumOf(name)} AS ${name}`).join(", ")}
        FROM charges WHERE provider_id = ? ${after} AND charged_at < ? AND ${CHARGES.covered("?")}
        GROUP BY ${byStretch("charged_at", QUARTER.length)}`,
      bindings: [rollup.provider, ...start, to, until, until],
    };
  });
  const { sql, bindings } = stored(rollup, "hour", stretches);
  const ofRollup = QUARTERS.map((nth): Branch => {
    const columns = CHARGE_NAMES.map((name) => `-${quarterColumn(name, nth)}`);
    return {
      sql: `SELECT at + INTERVAL ${15 * nth} MINUTE, ${columns.join(", ")} FROM ${sql}`,
      bindings,
    };
  });
  const both = union([...ofLedger, ...ofRollup]);
  const quarters = {
    sql: `SELECT ${millisecondsOf("at")} DIV ${QUARTER.ms} AS quarter, ${CHARGE_NAMES.join(", ")} FROM (${both.sql}) AS parts`,
    bindings: both.bindings,
  };
  const rows = await differing<QuarterRow>(reader, ["quarter"], CHARGE_NAMES, [quarters]);
  return rows.map(({ quarter, ...sums }) => ({
    ...sums,
    start: EARLIEST + Number(quarter) * QUARTER.ms,
  }));
}

type QuarterRow = Omit<QuarterDifference, "start"> & { readonly quarter: string };

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
    quarters: [],
  },
} as const;
type Longer = keyof typeof MADE_OF;

/** SQL: the rows of days, or of months, as what they are made of has them; of whole ones. */
function made(rollup: Rollup, kind: Longer, stretches: readonly Stretch[]): Branch {
  const { of, start, quarters } = MADE_OF[kind];
  const { sql, bindings } = stored(rollup, of, stretches);
  const sums = [...CHARGE_NAMES.map((name) => `SUM(${name})`), ...quarters];
  return {
    sql: `SELECT provider_id, format, slot, ${LENGTHS[kind]} AS kind, 0 AS parts, ${start} AS start, ${named(sums)}
      FROM ${sql} GROUP BY provider_id, format, slot, start`,
    bindings,
  };
}

/** The number of rows, or of stretches of time, in one INSERT. */
const [ROWS_PER_INSERT, STRETCHES_PER_INSERT] = [500, 64];

/** Adds differences to their hours, and makes the days and months anew that hold them. */
export async function addToIncrements(
  transaction: Knex.Transaction,
  rollup: Rollup,
  quarters: readonly QuarterDifference[],
): Promise<void> {
  const hours = [...Map.groupBy(quarters, ({ start }) => startOf(start, KINDS.hour))];
  for (let first = 0; first < hours.length; first += ROWS_PER_INSERT) {
    const some = hours.slice(first, first + ROWS_PER_INSERT);
    // Numbers that were bound would cost the command most of a build.
    await transaction.raw(
      `${INSERT} VALUES ${some.map((hour) => valuesOf(rollup, ...hour)).join(", ")} ON DUPLICATE KEY UPDATE ${ADD}`,
      some.map(() => rollup.provider),
    );
  }
  for (const kind of ["day", "month"] as const) {
    const starts = new Set(hours.map(([hour]) => startOf(hour, KINDS[kind])));
    const changed = joined(starts.values().map((at) => stretchAt(toDatetime(at), KINDS[kind])));
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

/** SQL: what is added to an hour, as a row; the provider is bound. */
function valuesOf({ slot }: Rollup, hour: number, quarters: readonly QuarterDifference[]): string {
  const place = ["?", FORMAT, slot, LENGTHS.hour, sixHoursOf(hour), `'${toDatetime(hour)}'`];
  const sums = CHARGE_NAMES.map((name) => quarters.map((quarter) => quarter[name]).join(" + "));
  const nth = new Map(quarters.map((quarter) => [(quarter.start - hour) / QUARTER.ms, quarter]));
  const ofQuarters = QUARTERS.flatMap((each) =>
    CHARGE_NAMES.map((name) => nth.get(each)?.[name] ?? "NULL"),
  );
  return `(${[...place, ...sums, ...ofQuarters].join(", ")})`;
}

/** SQL: adds to what is there already, or replaces it. A quarter without a charge has NULL. */
const ADD = SUMS.map((column) => {
  const [before, added] = [`${TABLES.increments}.${column}`, `VALUES(${column})`];
  return `${column} = COALESCE(${before} + ${added}, ${before}, ${added})`;
}).join(", ");
const SET = SUMS.map((column) => `${column} = VALUES(${column})`).join(", ");

/** The increments that overlap a stretch of time and are not what they are made of, in words. */
export async function findWrongIncrements(
  reader: Knex.Transaction,
  rollup: Rollup,
  { from, to }: Stretch,
): Promise<string[]> {
  const { sql, bindings } = stored(rollup, "hour", [{ from, to }]);
  const lacking = CHARGE_NAMES.map((name) =>
    [name, ...QUARTERS.map((nth) => `COALESCE(${quarterColumn(name, nth)}, 0)`)].join(" - "),
  );
  // Most rows of a rollup are hours: those that are as they should be need not be added up.
  const differs = lacking.map((lacks) => `${lacks} <> 0`).join(" OR ");
  const sides: Branch[] = [
    { sql: `SELECT at, 'hour' AS kind, ${named(lacking)} FROM ${sql} AND (${differs})`, bindings },
  ];
  for (const kind of ["day", "month"] as const) {
    const [first, last] = [from, justBefore(to)].map((at) => stretchAt(at, KINDS[kind]));
    const whole = [{ from: (first as Stretch).from, to: (last as Stretch).to }];
    const [parts, rows] = [made(rollup, kind, whole), stored(rollup, kind, whole)];
    sides.push(
      {
        ...parts,
        sql: `SELECT start, '${kind}', ${SUMS.join(", ")} FROM (${parts.sql}) AS ${kind}s`,
      },
      {
        ...rows,
        sql: `SELECT at, '${kind}', ${SUMS.map((column) => `-${column}`).join(", ")} FROM ${rows.sql}`,
      },
    );
  }
  const wrong = await differing<{ readonly kind: string; readonly at: string }>(
    reader,
    ["at", "kind"],
    SUMS,
    sides,
  );
  return wrong.map(({ kind, at }) => `the ${kind} of ${at} and its parts`);
}
