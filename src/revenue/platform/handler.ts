/** ListProviderRevenue: what each provider earned in a period, in pages. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  ListProviderRevenueRequest,
  ListProviderRevenueResponse,
  ProviderRevenue,
} from "../../../gen/revenue/v1/platform_pb.ts";
import { parseCents } from "../../db/cents.ts";
import type { Read } from "../../db/query.ts";
import type { Answer, TimedContext } from "../../handler.ts";
import type { Ask } from "../../rollup/read/ask.ts";
import { split } from "../fee.ts";
import { hours, money } from "../message.ts";
import type { PageTokens } from "../page-token.ts";
import { pageMetadata, pageSizeOf } from "../pages.ts";
import { fixPeriod, fromPeriodTexts, type Period, parsePeriod, periodTexts } from "../period.ts";
import { compareIds } from "../ranking.ts";
import { parseTimeZone } from "../time-zone.ts";
import { rowsInTime } from "./page.ts";
import { providersAfter } from "./queries.ts";
import { type Earned, earnedBy } from "./reader.ts";

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
    { startDate, endDate, timeZone: zone, pageSize, pageToken }: ListProviderRevenueRequest,
    { caller: { share }, signal, deadline }: TimedContext,
  ): Promise<Answer<ListProviderRevenueResponse>> => {
    const timeZone = parseTimeZone(zone);
    const requested = parsePeriod(startDate, endDate, timeZone);
    const size = pageSizeOf(pageSize, DEFAULT_PROVIDERS);
    const parameters = { ...periodTexts(requested), timeZone };
    const paged = { list: "providers", owner: OWNER, parameters };
    const later = pageToken === "" ? undefined : beginningOf(tokens.read(pageToken, paged));

    const values = { after: later?.after ?? "0" };
    const found = await read(({ query }) => providersAfter.run(query, values), {
      owner: share,
      signal,
    });
    const period = later?.period ?? fixPeriod(requested, found.asOf);
    const providers = found.rows.providers
      .filter(({ id }) => id !== "")
      .toSorted((one, other) => compareIds(one.id, other.id));

    const rowOf = async (provider: Provider, signal: AbortSignal) => {
      const context = { caller: { providerId: provider.id, share }, signal };
      const { value, asOf } = await ask(context, (facts) => earnedBy(provider.id, period, facts));
      return { row: providerRevenue(provider, value, asOf), asOf };
    };
    const made = await rowsInTime(providers.slice(0, size), rowOf, { signal, deadline });

    const last = made.at(-1)?.row.providerId;
    const isLastPage = last === undefined || made.length === providers.length;
    const fixed = Object.values(periodTexts(period));
    const nextPageToken = isLastPage ? "" : tokens.write(paged, [...fixed, last]);
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

/** Where a page begins, of which period. */
interface Beginning {
  readonly period: Period;
  readonly after: string;
}

function beginningOf([start = "", end = "", after = ""]: readonly string[]): Beginning {
  return { period: fromPeriodTexts(start, end), after };
}

function providerRevenue({ id, name }: Provider, earned: Earned, asOf: number): ProviderRevenue {
  const { totals } = earned;
  const { gross, fee, earnings } = split(totals);
  const amount = (text: string) => money(parseCents(text || "0.00"));
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
    completedPayouts: amount(earned.completedPayouts),
    otherPayouts: amount(earned.otherPayouts),
    availableBalance: amount(earned.balance),
    dataAsOf: timestampFromMs(asOf),
  };
}
