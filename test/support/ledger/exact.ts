/** Makes calls, and expects every figure of the responses to be the sum of a ledger's rows. */
import { expect } from "vitest";
import type { Read } from "../../../src/db/query.ts";
import { createPageTokens } from "../../../src/revenue/page-token.ts";
import { fixPeriod, parsePeriod, periodTexts } from "../../../src/revenue/period.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { formatSums } from "../../../src/rollup/sums.ts";
import { recordStatements, type StatementName } from "../statements.ts";
import { expectedBreakdown } from "./breakdown-oracle.ts";
import { atTimeOfCall, breakdownOf, dailyOf, overviewOf, payoutsOf, providersOf } from "./call.ts";
import { expectedDaily } from "./daily-oracle.ts";
import type { Ledger } from "./ledger.ts";
import { expectedOverview, expectedPayouts } from "./overview-oracle.ts";
import { type RequestedPeriod, resolvedForDays } from "./periods.ts";
import { expectedRow } from "./provider-oracle.ts";

/** A service whose responses are compared. Its functions resolve to the statements that they took. */
export interface ExactService {
  /** An overview, whose statements these are, and then the payouts. */
  overview(ledger: Ledger, now: string): Promise<StatementName[]>;
  /** A breakdown, whose statements these are, and then its days. */
  breakdown(
    ledger: Ledger,
    now: string,
    period: RequestedPeriod,
    timeZone?: string,
  ): Promise<StatementName[]>;
  /** Its row among all providers, of which there must be one with its number, and the statement that it took. */
  row(ledger: Ledger, now: string, period: RequestedPeriod): Promise<StatementName | undefined>;
}

/**
 * Creates a service with an empty cache, whose rollups must not seem damaged.
 *
 * @param read its queries, whose *now* is that of the call
 */
export function createExactService(read: Read): ExactService {
  const recorded = recordStatements(atTimeOfCall(read));
  const service = createRevenueService(recorded.read, {
    pageTokenKey: PAGE_TOKEN_KEY,
    reportDamage: (_provider, { at, parts, total }) => {
      throw new Error(`false alarm at ${at}: ${formatSums(parts)} and ${formatSums(total)}`);
    },
  });
  return {
    async overview(ledger, now) {
      const response = await overviewOf(service, ledger.provider, now);
      const statements = recorded.takeNames();
      const context = `overview of ${ledger.provider} at ${now} by ${statements}`;
      expect(response, context).toEqual(expectedOverview(ledger, now));
      expect(await payoutsOf(service, ledger.provider, { pageSize: 1_000 }, now)).toEqual({
        payouts: expectedPayouts(ledger),
        nextPageToken: "",
      });
      recorded.takeNames();
      return statements;
    },
    async breakdown(ledger, now, period, zone = "UTC") {
      const { startDate, endDate, resolved } = period;
      const call = [service, ledger.provider, now, startDate, endDate, zone] as const;
      const response = await breakdownOf(...call);
      const statements = recorded.takeNames();
      const context = `${JSON.stringify(resolved)} of ${ledger.provider} in ${zone} at ${now} by ${statements}`;
      expect(response, context).toEqual(expectedBreakdown(ledger, resolved, now, zone));
      expect(await dailyOf(...call), context).toEqual(
        expectedDaily(ledger, resolvedForDays(period, zone), now, zone),
      );
      recorded.takeNames();
      return statements;
    },
    async row(ledger, now, { startDate, endDate, resolved }) {
      const pageToken = tokenBefore(ledger, now, { startDate, endDate, resolved });
      const request = { startDate, endDate, pageSize: 1, pageToken };
      const response = await providersOf(service, request, now);
      const statement = recorded.takeNames().at(-1);
      const context = `row of ${ledger.provider} in ${JSON.stringify(resolved)} at ${now} by ${statement}`;
      const row = expect.objectContaining(expectedRow(ledger, resolved, now));
      expect(response, context).toHaveProperty("providers", [row]);
      return statement;
    },
  };
}

const PAGE_TOKEN_KEY = new Uint8Array(32);
const tokens = createPageTokens(PAGE_TOKEN_KEY);

/** The token of the page that begins with the provider of a ledger. */
function tokenBefore({ provider }: Ledger, now: string, period: RequestedPeriod): string {
  const { startDate, endDate, resolved } = period;
  const parameters = { ...periodTexts(parsePeriod(startDate, endDate)), timeZone: "UTC" };
  const fixed = fixPeriod(
    { start: Date.parse(resolved.start), end: Date.parse(resolved.end) },
    Date.parse(now),
  );
  const contents = [...Object.values(periodTexts(fixed)), String(provider - 1n)];
  return tokens.write({ list: "providers", owner: "platform", parameters }, contents);
}
