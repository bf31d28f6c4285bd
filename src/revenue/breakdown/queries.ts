/**
 * The SQL of GetServerBreakdown: a statement that completes the sums of a rollup, and one that reads the ledger
 * alone. All places in time are parameters.
 */
import { instant, milliseconds, millisecondsOf } from "../../db/sql-time.ts";
import { compileStatement } from "../../db/statement.ts";
import { RENTAL_RAN, rentalCovered } from "../../rollup/coverage.ts";
import { CONFIRMED } from "../../rollup/read/facts.ts";
import { OWNER_SUMS, sumsAt, totalAt } from "../../rollup/read/stored.ts";
import { CHARGE_SUMS, STORED_SUMS } from "../../rollup/sums.ts";
import { WALLET } from "../wallet.ts";

/** Every server, including deleted ones. */
const SERVERS = {
  select: {
    id: "id",
    uuid: "uuid",
    name: "name",
    type: "type",
    status: "status",
    deleted: "deleted_at IS NOT NULL",
  },
  from: "servers WHERE provider_id = :provider",
};

/** Every instance, including deleted ones. */
const INSTANCES = {
  select: {
    id: "id",
    server: "server_id",
    publicId: "public_id",
    name: "name",
    deleted: "deleted_at IS NOT NULL",
  },
  from: "instances WHERE provider_id = :provider",
};

const owner = { server: "server_id", instance: "COALESCE(instance_id, 0)" };

/**
 * Ends a query that adds up rows by owner. Those of a server as a whole may come twice: for the instances
 * NULL and 0. Without an order MariaDB sorts the sums.
 */
const BY_OWNER = "GROUP BY server_id, instance_id ORDER BY NULL";

const [START, AFTER, NOW] = [instant(":start"), instant(":after"), instant(":now")];
const [FIRST, LAST] = [instant(":first"), instant(":last")];
const WATERMARK = instant(":watermark");
/** The period up to now, in ms from the first instant. */
const [FROM, UNTIL] = [milliseconds(":from"), milliseconds(":until")];

/** Sums the charges that match an SQL condition, by owner. */
const sumCharges = (condition: string) => ({
  select: { ...owner, ...CHARGE_SUMS },
  from: `charges WHERE provider_id = :provider AND ${condition} ${BY_OWNER}`,
});

/** 1 if a condition holds for a row, else 0, added up. */
const countIf = (condition: string) => `SUM(CASE WHEN ${condition} THEN 1 ELSE 0 END)`;

/** What rentals add to the totals of their owner. */
interface RentalFigures {
  /** Those that ran in the period. */
  readonly rentals: string;
  /** Those that run now. */
  readonly running: string;
  /** How long they ran in the period, in ms. */
  readonly rented: string;
}

const sumRentals = (condition: string, { rentals, running, rented }: RentalFigures) => ({
  select: { ...owner, rentals, running, rented },
  from: `rentals WHERE provider_id = :provider AND ${condition} ${BY_OWNER}`,
});

/** SQL condition: the rental ran at some time of the period. */
const RAN_IN_PERIOD = `(ended_at IS NULL OR ended_at >= ${START}) AND started_at < ${AFTER}`;

/** Rentals that match an SQL condition, none of which starts after now, each clipped to the period. */
const clippedRentals = (condition: string) => {
  const start = `CASE WHEN started_at < ${START} THEN ${FROM} ELSE ${millisecondsOf("started_at")} END`;
  const end = `CASE WHEN ended_at IS NULL OR ended_at >= ${AFTER} THEN ${UNTIL} ELSE ${millisecondsOf("ended_at")} END`;
  return sumRentals(condition, {
    rentals: countIf(RAN_IN_PERIOD),
    running: countIf(`ended_at IS NULL OR ended_at > ${NOW}`),
    rented: `SUM(GREATEST(${end} - ${start}, 0))`,
  });
};

/**
 * Rentals without an end that had started before the period: each runs through all of it. There is one on most
 * instances, so an expression for each row would cost more than all else.
 */
const OPEN_BEFORE = {
  select: { ...owner, count: "COUNT(*)" },
  from: `rentals WHERE provider_id = :provider
    AND ended_at IS NULL AND started_at < ${START} AND started_at <= ${NOW} ${BY_OWNER}`,
};

/**
 * What makes the sums at the ends of the period of those at the boundaries: covered rentals that start, or end,
 * between the start and the first boundary, in either order, or from the last boundary to the end. Those at the
 * start have the sign -1 if the boundary comes after it.
 */
const edgeRentals = (column: "started_at" | "ended_at") => {
  const inHead = `${column} >= ${instant(":headFrom")} AND ${column} < ${instant(":headTo")}`;
  const inTail = `${column} >= ${LAST} AND ${column} < ${AFTER}`;
  const headSign = milliseconds(":headSign");
  const tail = `CASE WHEN ${inTail} THEN 1 ELSE 0 END`;
  const head = `CASE WHEN ${inHead} THEN ${headSign} ELSE 0 END`;
  const rented = `SUM(${UNTIL} * ${tail} - ${FROM} * ${head} - ${millisecondsOf(column)} * (${tail} - ${head}))`;
  // In the period ran those that had started by its end, less those that had ended before its start.
  const [rentals, sign] = column === "started_at" ? [`SUM(${tail})`, ""] : [`- SUM(${head})`, "- "];
  return sumRentals(`(${inHead} OR ${inTail}) AND ${rentalCovered(WATERMARK)}`, {
    rentals,
    running: "0",
    rented: `${sign}${rented}`,
  });
};

/** The sums of owners at a mark, and what they must be together. */
const comparedSums = (mark: string) => ({
  sums: { select: { ...owner, ...STORED_SUMS }, from: sumsAt(OWNER_SUMS, mark) },
  total: { select: STORED_SUMS, from: totalAt(mark) },
});

/**
 * The statement that completes the sums of a rollup.
 *
 * @param marks the number of marks whose sums it reads, too
 */
function breakdownOf(marks: 0 | 1 | 2) {
  const [mark, other] = [":mark", ":other"].map((name, nth) =>
    nth < marks ? comparedSums(name) : undefined,
  );
  return compileStatement(
    {
      confirmed: CONFIRMED,
      servers: SERVERS,
      instances: INSTANCES,
      sums: mark?.sums,
      total: mark?.total,
      sumsOfOther: other?.sums,
      totalOfOther: other?.total,
      /** All charges between the ends of the period and the boundaries. */
      head: sumCharges(`charged_at >= ${START} AND charged_at < ${FIRST}`),
      tail: sumCharges(`charged_at >= ${instant(":tailFrom")} AND charged_at < ${AFTER}`),
      /** Those between the boundaries that their sums do not hold. */
      uncovered: sumCharges(
        `recorded_at > ${WATERMARK} AND charged_at >= ${FIRST} AND charged_at < ${LAST}`,
      ),
      startsAtEdges: edgeRentals("started_at"),
      endsAtEdges: edgeRentals("ended_at"),
      /** Rentals that were written after the watermark, and ended before it. */
      written: clippedRentals(
        `updated_at > ${WATERMARK} AND ended_at <= ${WATERMARK} AND ${RENTAL_RAN} AND ${RAN_IN_PERIOD}`,
      ),
      /** Those that end after it, or have no end and started in the period. */
      ending: clippedRentals(
        `(ended_at IS NULL AND started_at >= ${START} OR ended_at > ${WATERMARK} AND ${RENTAL_RAN}) AND started_at <= ${NOW}`,
      ),
      open: OPEN_BEFORE,
    },
    [
      ...["provider", "start", "after", "now", "from", "until", "watermark", "slot"],
      ...["first", "last", "tailFrom", "headFrom", "headTo", "headSign", "mark", "other"],
    ],
    "breakdown",
  );
}

/** Those that read the sums of no mark, of one and of two. */
export const breakdowns = [breakdownOf(0), breakdownOf(1), breakdownOf(2)] as const;

/** The statement that reads the ledger alone. */
export const rawBreakdown = compileStatement(
  {
    wallet: WALLET,
    servers: SERVERS,
    instances: INSTANCES,
    charges: sumCharges(`charged_at >= ${START} AND charged_at < ${AFTER}`),
    /** Rentals that end in the period or after now, or have no end and started in the period. */
    rentals: clippedRentals(
      `(ended_at IS NULL AND started_at >= ${START} OR ended_at >= LEAST(${START}, ${NOW}) AND ${RENTAL_RAN}) AND started_at <= ${NOW}`,
    ),
    open: OPEN_BEFORE,
  },
  ["provider", "start", "after", "now", "from", "until"],
  "breakdown_raw",
);
