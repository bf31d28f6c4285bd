/** ListProviderRevenue: what each provider earned in a period, in pages. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  ListProviderRevenueRequest,
  ListProviderRevenueResponse,
  ProviderRevenue,
} from "../../../gen/revenue/v1/platform_pb.ts";
import { parseCents } from "../../db/cents.ts";
import type { Read } from "../../db/query.ts";
import type { TimedContext } from "../../handler.ts";
import type { Ask } from "../../rollup/read/ask.ts";
import type { TotalsByOwner } from "../breakdown/totals.ts";
import { split } from "../fee.ts";
import { hours, money } from "../message.ts";
import type { PageTokens } from "../page-token.ts";
import { pageMetadata, parsePage } from "../pages.ts";
import { fixPeriod, fromPeriodTexts, periodTexts } from "../period.ts";
import { periodQuestion } from "../period-question.ts";
import { compareIds } from "../ranking.ts";
import { rowsInTime } from "./page.ts";
import { earnedStatements, providersAfter } from "./queries.ts";

/** The number of providers in a page by default. */
const DEFAULT_PROVIDERS = 100;
/** Any service key may go on with a token, so that an export outlives its key. */
const OWNER = "platform";

type Provider = Awaited<ReturnType<typeof providersAfter.run>>["rows"]["providers"][number];

/**
 * Creates the RPC's function. It rejects with a `ServiceError`: `invalidArgument` for an invalid period, zone, page
 * size or page token, otherwise as `Read` and `Ask` do.
 */
export function createListProviderRevenue(read: Read, ask: Ask, tokens: PageTokens) {
  return async (
    request: ListProviderRevenueRequest,
    { caller: { share }, signal, deadline }: TimedContext,
  ) => {
    const asked = parsePage(request, "providers", OWNER, tokens, DEFAULT_PROVIDERS);
    const { timeZone, size } = asked;
    const later = asked.contents && beginningOf(asked.contents);

    const values = { after: later?.after ?? "0" };
    const options = { owner: share, signal };
    const found = await read(({ query }) => providersAfter.run(query, values), options);
    const period = later?.period ?? fixPeriod(asked.requested, found.asOf);
    const providers = found.rows.providers
      .filter(({ id }) => id !== "")
      .toSorted((one, other) => compareIds(one.id, other.id));

    const rowOf = async (provider: Provider, signal: AbortSignal) => {
      const context = { caller: { providerId: provider.id, share }, signal };
      const { value, asOf } = await ask(context, (facts) => {
        const asked = { provider: provider.id, period, facts };
        return periodQuestion(asked, earnedStatements, (...earned) =>
          providerRevenue(provider, ...earned),
        );
      });
      return { row: { ...value, dataAsOf: timestampFromMs(asOf) }, asOf };
    };
    const made = await rowsInTime(providers.slice(0, size), rowOf, { signal, deadline });

    const last = made.at(-1)?.row.providerId;
    const isLastPage = last === undefined || made.length === providers.length;
    const fixed = Object.values(periodTexts(period));
    const nextPageToken = asked.tokenOf(isLastPage ? undefined : [...fixed, last]);
    const message: ListProviderRevenueResponse = {
      $typeName: "revenue.v1.ListProviderRevenueResponse",
      providers: made.map(({ row }) => row),
      nextPageToken,
      startDate: timestampFromMs(period.start),
      endDate: timestampFromMs(period.end),
      timeZone,
    };
    const asOf = Math.min(found.asOf, ...made.map(({ asOf }) => asOf));
    return { message, asOf, ...pageMetadata(nextPageToken) };
  };
}

/** Where a page begins, of which period, given the contents of its token. */
function beginningOf([start = "", end = "", after = ""]: readonly string[]) {
  return { period: fromPeriodTexts(start, end), after };
}

type Earned = Awaited<ReturnType<typeof earnedStatements.full.run>>["rows"];

/** A row of the response, but for the instant of its snapshot. */
function providerRevenue(
  { id, name }: Provider,
  { confirmed: [wallet], payouts: [payouts] }: Earned,
  byOwner: TotalsByOwner,
) {
  const totals = byOwner.total();
  const { gross, fee, earnings } = split(totals);
  const amount = (text?: string) => money(parseCents(text || "0.00"));
  return {
    $typeName: "revenue.v1.ProviderRevenue",
    providerId: id,
    name,
    grossRevenue: money(gross),
    refunds: money(totals.refunds),
    platformFees: money(fee),
    earnings: money(earnings),
    charges: Number(totals.charges),
    rentedHours: hours(totals.rented),
    completedPayouts: amount(payouts?.completed),
    otherPayouts: amount(payouts?.other),
    availableBalance: amount(wallet?.balance),
  } satisfies Omit<ProviderRevenue, "dataAsOf">;
}
