/** The payouts that the page has: the latest ones of the overview, or all, which it asks for page by page. */
import type { CallOptions } from "@connectrpc/connect";
import { useMemo, useState } from "preact/hooks";
import type {
  createRevenueClient,
  GetOverviewResponse,
  Payout,
} from "../../../clients/typescript/src/index.ts";
import type { Problem } from "../call/problem.ts";
import { type CallState, useCall } from "../call/use-call.ts";

/** How many payouts an overview has at most. */
const LATEST = 10;
/** How many payouts are asked for at once: the most that the service sends. */
const PAGE = 1_000;

/** The payouts that are there. */
export interface PayoutPages {
  readonly payouts: readonly Payout[];
  /** Whether they are all payouts, or the newest pages of them; otherwise those of the overview. */
  readonly isAll: boolean;
  /** Asks for further ones; undefined if there are none, or they are being asked for. */
  readonly more: (() => void) | undefined;
  /** The call for all of them; undefined if nobody has asked. */
  readonly call: CallState<unknown> | undefined;
}

/** What was asked for: the page of a token, and those before it. */
interface Asked {
  /** The overview that was shown. With a newer one, its latest payouts are shown again. */
  readonly overview: GetOverviewResponse;
  readonly before: readonly Payout[];
  readonly pageToken: string;
}

/** The payouts beside an overview. */
export function usePayoutPages(
  client: ReturnType<typeof createRevenueClient>,
  overview: GetOverviewResponse | undefined,
  reject: (problem: Problem) => void,
): PayoutPages {
  const [latestAsked, setAsked] = useState<Asked>();
  const asked = latestAsked?.overview === overview ? latestAsked : undefined;
  const send = useMemo(
    () =>
      asked &&
      (async (options: CallOptions) => {
        const { pageToken, before } = asked;
        const page = await client.listPayouts({ pageSize: PAGE, pageToken }, options);
        return {
          overview: asked.overview,
          next: page.nextPageToken,
          payouts: [...before, ...page.payouts],
        };
      }),
    [client, asked],
  );
  const call = useCall(send, reject);
  const latest = overview?.recentPayouts ?? [];
  const all = asked && call.data?.overview === overview ? call.data : undefined;
  const next =
    all === undefined ? (latest.length < LATEST ? undefined : "") : all.next || undefined;
  const before = all?.payouts ?? [];
  const idle = asked === undefined || !call.loading;
  const more =
    idle && overview !== undefined && next !== undefined
      ? () => setAsked({ overview, before, pageToken: next })
      : undefined;
  return {
    payouts: all?.payouts ?? latest,
    isAll: all !== undefined,
    more,
    call: asked && call,
  };
}
