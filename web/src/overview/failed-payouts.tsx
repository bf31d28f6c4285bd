/** A line that tells of the latest payouts that failed. In the list they are easily overlooked, or folded in. */
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Fragment } from "preact";
import type { Payout } from "../../../clients/typescript/src/index.ts";
import { Amount } from "../amount/amount.tsx";
import { Notice } from "../call/notice.tsx";
import { dayAt, longDay } from "../instant.ts";
import { isBad } from "../status-badge.tsx";

interface FailedPayoutsProps {
  /** The latest payouts, of whatever status. */
  readonly latest: readonly Payout[];
  readonly timeZone: string;
}

/** Shows the line, if one of them failed. */
export function FailedPayouts({ latest, timeZone }: FailedPayoutsProps) {
  const failed = latest.filter(({ status }) => isBad(status));
  if (failed.length === 0) return null;
  const dayOf = ({ date }: Payout) => date && longDay(dayAt(timestampDate(date), timeZone));
  const list = failed.map((payout, index) => (
    <Fragment key={payout.payoutId}>
      {index > 0 && ", "}
      <Amount value={payout.amount} currency /> on {dayOf(payout)} ({payout.method})
    </Fragment>
  ));
  const title =
    failed.length === 1 ? "A recent payout failed" : `${failed.length} recent payouts failed`;
  return (
    <Notice kind="payouts" title={title} advice={list}>
      <a href="#payouts">Payouts</a>
    </Notice>
  );
}
