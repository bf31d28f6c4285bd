/**
 * The SQL of the sums of a period: what completes those of a rollup, and what adds up the ledger alone. They are
 * added up by owner or for the provider as a whole, and `Totals` makes figures of either. All places in time are
 * parameters (period-question.ts).
 */
import { instant, milliseconds, millisecondsOf } from "../db/sql-time.ts";
import { CHARGES, RENTAL_RAN, RENTALS } from "../rollup/coverage.ts";
import { OWNER_SUMS, sumsAt, totalAt } from "../rollup/read/stored.ts";
import { CHARGE_SUMS, STORED_SUMS, TOTAL_STORED_SUMS } from "../rollup/sums.ts";

/** What rows are added up by, and the columns that tell it. */
interface Grouping {
  readonly owner: { readonly server: string; readonly instance: string };
  readonly by: string;
  /** The stored sums of owners that are added up by it. */
  readonly stored: { readonly select: typeof STORED_SUMS; readonly by: string };
}

/** By owner. The sums of a server as a whole may come twice: for the instances NULL and 0. */
export const BY_OWNER: Grouping = {
  owner: { server: "server_id", instance: "COALESCE(instance_id, 0)" },
  by: "server_id, instance_id",
  stored: { select: STORED_SUMS, by: "" },
};

/** For the provider as a whole, as if it were one owner. No row if there is nothing to add up. */
export const AS_WHOLE: Grouping = {
  owner: { server: "0", instance: "0" },
  by: "provider_id",
  stored: { select: TOTAL_STORED_SUMS, by: " GROUP BY provider_id" },
};

const [START, AFTER, NOW] = [instant(":start"), instant(":after"), instant(":now")];
const [FIRST, LAST] = [instant(":first"), instant(":last")];
const WATERMARK = instant(":watermark");
/** The period up to now, in ms from the first instant. */
const [FROM, UNTIL] = [milliseconds(":from"), milliseconds(":until")];

/** 1 if a condition holds for a row, else 0, added up. */
const countIf = (condition: string) => `SUM(CASE WHEN ${condition} THEN 1 ELSE 0 END)`;

/** SQL condition: the rental ran at some time of the period. */
const RAN_IN_PERIOD = `(ended_at IS NULL OR ended_at >= ${START}) AND started_at < ${AFTER}`;

/** What rentals add to the totals of their owner: those of the period, that run now, and how long they ran in it (ms). */
type RentalFigures = Readonly<Record<"rentals" | "running" | "rented", string>>;

/** The queries of rows that match an SQL condition, for a grouping. */
function queriesBy({ owner, by, stored }: Grouping) {
  /** Without an order MariaDB sorts the sums. */
  const grouped = (table: string, condition: string) =>
    `${table} WHERE provider_id = :provider AND ${condition} GROUP BY ${by} ORDER BY NULL`;

  const sumRentals = (condition: string, { rentals, running, rented }: RentalFigures) => ({
    select: { ...owner, rentals, running, rented },
    from: grouped("rentals", condition),
  });

  return {
    storedAt: (boundary: string) => ({
      select: { ...owner, ...stored.select },
      from: sumsAt(OWNER_SUMS, boundary) + stored.by,
    }),

    sumCharges: (condition: string) => ({
      select: { ...owner, ...CHARGE_SUMS },
      from: grouped("charges", condition),
    }),

    /** Rentals none of which starts after now, each clipped to the period. */
    clippedRentals(condition: string) {
      const start = `CASE WHEN started_at < ${START} THEN ${FROM} ELSE ${millisecondsOf("started_at")} END`;
      const end = `CASE WHEN ended_at IS NULL OR ended_at >= ${AFTER} THEN ${UNTIL} ELSE ${millisecondsOf("ended_at")} END`;
      return sumRentals(condition, {
        rentals: countIf(RAN_IN_PERIOD),
        running: countIf(`ended_at IS NULL OR ended_at > ${NOW}`),
        rented: `SUM(GREATEST(${end} - ${start}, 0))`,
      });
    },

    /**
     * Rentals without an end that had started before the period: each runs through all of it. There is one on most
     * instances, so an expression for each row would cost more than all else.
     */
    openBefore: sumRentals(`ended_at IS NULL AND started_at < ${START} AND started_at <= ${NOW}`, {
      rentals: "COUNT(*)",
      running: "COUNT(*)",
      rented: `COUNT(*) * CAST(GREATEST(${UNTIL} - ${FROM}, 0) AS DECIMAL(20,0))`,
    }),

    /**
     * What makes the sums at the ends of the period of those at the boundaries: covered rentals that start, or end,
     * between the start and the first boundary, in either order, or from the last boundary to the end. Those at the
     * start have the sign -1 if the boundary comes after it.
     */
    rentalsBeside(column: "started_at" | "ended_at") {
      const inHead = `${column} >= ${instant(":headFrom")} AND ${column} < ${instant(":headTo")}`;
      const inTail = `${column} >= ${LAST} AND ${column} < ${AFTER}`;
      const headSign = milliseconds(":headSign");
      const tail = `CASE WHEN ${inTail} THEN 1 ELSE 0 END`;
      const head = `CASE WHEN ${inHead} THEN ${headSign} ELSE 0 END`;
      const rented = `SUM(${UNTIL} * ${tail} - ${FROM} * ${head} - ${millisecondsOf(column)} * (${tail} - ${head}))`;
      // In the period ran those that had started by its end, less those that had ended before its start.
      const [rentals, sign] =
        column === "started_at" ? [`SUM(${tail})`, ""] : [`- SUM(${head})`, "- "];
      return sumRentals(
        `(${inHead} OR ${inTail}) AND ${RENTAL_RAN} AND ${RENTALS.covered(WATERMARK)}`,
        {
          rentals,
          running: "0",
          rented: `${sign}${rented}`,
        },
      );
    },
  };
}

/** The queries of the totals of a period, for the statements of a question. */
export function periodQueries(grouping: Grouping) {
  const { sumCharges, clippedRentals, rentalsBeside, openBefore, storedAt } = queriesBy(grouping);
  const raw = {
    uncovered: sumCharges(`charged_at >= ${START} AND charged_at < ${AFTER}`),
    /** Rentals that end in the period or after now, or have no end and started in the period. */
    ending: clippedRentals(
      `(ended_at IS NULL AND started_at >= ${START} OR ended_at >= LEAST(${START}, ${NOW}) AND ${RENTAL_RAN}) AND started_at <= ${NOW}`,
    ),
    open: openBefore,
  };
  const completing = {
    /** All charges between the ends of the period and the boundaries. */
    head: sumCharges(`charged_at >= ${START} AND charged_at < ${FIRST}`),
    tail: sumCharges(`charged_at >= ${instant(":tailFrom")} AND charged_at < ${AFTER}`),
    /** Those between the boundaries that their sums do not hold. */
    uncovered: sumCharges(
      `${CHARGES.late(WATERMARK)} AND charged_at >= ${FIRST} AND charged_at < ${LAST}`,
    ),
    startsBeside: rentalsBeside("started_at"),
    endsBeside: rentalsBeside("ended_at"),
    /** Rentals that were written after the watermark, and ended before it. */
    written: clippedRentals(`${RENTALS.late(WATERMARK)} AND ${RENTAL_RAN} AND ${RAN_IN_PERIOD}`),
    /** Those that end after it, or have no end and started in the period. */
    ending: clippedRentals(
      `(ended_at IS NULL AND started_at >= ${START} OR ${RENTALS.after(WATERMARK)} AND ${RENTAL_RAN}) AND started_at <= ${NOW}`,
    ),
    open: openBefore,
  };
  /** The sums of owners at the boundaries, and what they must be together. */
  const stored = {
    atFirst: storedAt(":boundary"),
    totalAtFirst: { select: STORED_SUMS, from: totalAt(":boundary") },
    atLast: storedAt(":other"),
    totalAtLast: { select: STORED_SUMS, from: totalAt(":other") },
  };
  return { raw, completing, stored };
}
