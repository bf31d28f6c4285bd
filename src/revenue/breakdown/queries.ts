/**
 * The SQL of GetServerBreakdown: a statement that completes the sums of a rollup, and one that reads the ledger
 * alone. All places in time are parameters.
 */
import { compileStatement } from "../../db/statement.ts";
import { CONFIRMED } from "../../rollup/read/facts.ts";
import { OWNER_SUMS, sumsAt, totalAt } from "../../rollup/read/stored.ts";
import { STORED_SUMS } from "../../rollup/sums.ts";
import {
  BY_OWNER,
  completingSums,
  EDGE_PARAMETERS,
  PERIOD_PARAMETERS,
  rawSums,
} from "../period-sums.ts";
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

/** The sums of owners at a mark, and what they must be together. */
const comparedSums = (mark: string) => ({
  sums: { select: { ...BY_OWNER.owner, ...STORED_SUMS }, from: sumsAt(OWNER_SUMS, mark) },
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
      ...completingSums(BY_OWNER),
    },
    [...PERIOD_PARAMETERS, ...EDGE_PARAMETERS, "mark", "other"],
    "breakdown",
  );
}

/** Those that read the sums of no mark, of one and of two. */
export const breakdowns = [breakdownOf(0), breakdownOf(1), breakdownOf(2)] as const;

/** The statement that reads the ledger alone. */
export const rawBreakdown = compileStatement(
  { wallet: WALLET, servers: SERVERS, instances: INSTANCES, ...rawSums(BY_OWNER) },
  PERIOD_PARAMETERS,
  "breakdown_raw",
);
