/** Payouts as they are read and shown. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Payout } from "../../../gen/revenue/v1/revenue_pb.ts";
import { parseCents } from "../../db/cents.ts";
import { instantOf } from "../../db/datetime.ts";
import type { Rows } from "../../db/statement.ts";
import { money } from "../message.ts";

/** The columns of a payout, for a query. */
export const PAYOUT = {
  id: "public_id",
  at: "paid_at",
  amount: "amount",
  method: "method",
  status: "status",
  order: "id",
};

/** A row of a query with these columns. */
type PayoutRow = Rows<{ readonly select: typeof PAYOUT; readonly from: string }>[number];

/** A payout of a response. */
export function payout(row: PayoutRow): Payout {
  return {
    $typeName: "revenue.v1.Payout",
    payoutId: row.id,
    date: timestampFromMs(instantOf(row.at)),
    amount: money(parseCents(row.amount)),
    method: row.method,
    status: row.status,
  };
}
