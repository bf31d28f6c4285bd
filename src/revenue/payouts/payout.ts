/** Payouts as they are read, ordered and shown. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Payout } from "../../../gen/revenue/v1/revenue_pb.ts";
import { parseCents } from "../../db/cents.ts";
import { instantOf } from "../../db/datetime.ts";
import type { Rows } from "../../db/statement.ts";
import { money } from "../message.ts";

/** The columns of a payout, for a query. */
export const PAYOUT = {
  id: "public_id",
  paidAt: "paid_at",
  amount: "amount",
  method: "method",
  status: "status",
  order: "id",
};
/** The order of payouts, which is that of their clustered key. */
export const LATEST_FIRST = "ORDER BY paid_at DESC, id DESC";

/** A row of a query with these columns. */
type PayoutRow = Rows<{ readonly select: typeof PAYOUT; readonly from: string }>[number];

/** The same order, for `sort`. SQL promises none for a part of a UNION. */
export function latestFirst(one: PayoutRow, other: PayoutRow): number {
  if (one.paidAt !== other.paidAt) return one.paidAt > other.paidAt ? -1 : 1;
  return BigInt(one.order) > BigInt(other.order) ? -1 : 1;
}

/** A payout of a response. */
export function payout(row: PayoutRow): Payout {
  return {
    $typeName: "revenue.v1.Payout",
    payoutId: row.id,
    date: timestampFromMs(instantOf(row.paidAt)),
    amount: money(parseCents(row.amount)),
    method: row.method,
    status: row.status,
  };
}
