/**
 * The SQL of GetServerBreakdown: a statement that completes the sums of a rollup, and one that reads the ledger
 * alone. All places in time are parameters.
 */
import { compileStatement } from "../../db/statement.ts";
import { CONFIRMED } from "../../rollup/read/facts.ts";
import { OWNER_SUMS, sumsAt, totalAt } from "../../rollup/read/stored.ts";
import { STORED_SUMS } from "../../rollup/sums.ts";
import { BY_OWNER, completingSums, rawSums } from "../period-sums.ts";
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
const sumsOfOwners = (mark: string) => ({
  select: { ...BY_OWNER.owner, ...STORED_SUMS },
  from: sumsAt(OWNER_SUMS, mark),
});
const total = (mark: string) => ({ select: STORED_SUMS, from: totalAt(mark) });

/** The sums of the rollup. */
const STORED = {
  atFirst: sumsOfOwners(":mark"),
  totalAtFirst: total(":mark"),
  atLast: sumsOfOwners(":other"),
  totalAtLast: total(":other"),
};

/** The statement that completes the sums of a rollup, and may read them, too. */
function breakdownOf(stored: Partial<typeof STORED>) {
  const { atFirst, totalAtFirst, atLast, totalAtLast } = stored;
  return compileStatement(
    {
      confirmed: CONFIRMED,
      servers: SERVERS,
      instances: INSTANCES,
      ...{ atFirst, totalAtFirst, atLast, totalAtLast },
      ...completingSums(BY_OWNER),
    },
    "breakdown",
  );
}

/** The statements that read the sums, and that have them from the cache. */
export const fullBreakdown = breakdownOf(STORED);
export const cachedBreakdown = breakdownOf({});

/** The statement that reads the ledger alone. */
export const rawBreakdown = compileStatement(
  { wallet: WALLET, servers: SERVERS, instances: INSTANCES, ...rawSums(BY_OWNER) },
  "breakdown_raw",
);
