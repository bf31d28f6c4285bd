/** The statements of all RPCs, as the service sends them. */
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import type { Read } from "../../../src/db/query.ts";
import { MAX_SIZE } from "../../../src/revenue/pages.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { missesRollup } from "../../../src/rollup/read/missing.ts";
import { type Ran, recordStatements, type StatementName } from "../statements.ts";
import { breakdownOf, chargesOf, dailyOf, overviewOf, payoutsOf, providersOf } from "./call.ts";

/**
 * Asks all RPCs. Resolves to each statement as it was first sent.
 *
 * @param providers those with a rollup, and those without
 * @param periods "" for an omitted end. One should have a change of clocks, and two should begin at one time
 */
export async function everyStatement(
  read: Read,
  providers: readonly (bigint | number)[],
  periods: readonly (readonly [startDate: string, endDate: string])[],
): Promise<ReadonlyMap<StatementName, Ran>> {
  const recorded = recordStatements(read);
  for (const provider of providers) {
    const service = createRevenueService(recorded.read);
    const call = [service, BigInt(provider), new Date().toISOString()] as const;
    for (const timeZone of ["UTC", "Asia/Kolkata", "America/New_York"]) {
      for (const period of periods) {
        const [startDate, endDate] = period;
        // The second time with cached sums.
        for (const pageSize of [0, MAX_SIZE]) {
          await payoutsOf(service, call[1], { pageSize });
          await chargesOf(service, call[1], { startDate, endDate, timeZone, pageSize });
          await overviewOf(...call);
          await breakdownOf(...call, ...period, timeZone);
          await dailyOf(...call, ...period, timeZone);
          await providersOf(service, { startDate, endDate, timeZone });
        }
      }
    }
    // It is sent after an answer, which does not wait for it.
    const options = { signal: AbortSignal.timeout(TIME_LIMIT) };
    await recorded.read(({ query }) => missesRollup(query, String(provider)), options);
  }
  return new Map(
    recorded
      .take()
      .map((ran) => [ran.name, ran] as const)
      .toReversed(),
  );
}
