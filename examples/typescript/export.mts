/**
 * Exports the revenue of a month as CSV, a row for each provider, whose ids are the lines of stdin:
 * node export.mts 2026-11-01 2026-11-30 < ids. Needs what grpc.mts says. A provider that does not exist is
 * told on stderr; the exit code is then 1.
 */
import { createInterface } from "node:readline/promises";
import { type ServiceError, status } from "@grpc/grpc-js";
import { decimal, RevenueService } from "revenue-service-client";
import { call, close } from "./grpc.mts";

/** Calls at once: below the limit of one service key, and enough. */
const AT_ONCE = 8;
const [startDate = "", endDate = ""] = process.argv.slice(2);

async function exportOne(providerId: string): Promise<void> {
  const request = { startDate, endDate };
  const period = await call(RevenueService.method.getServerBreakdown, request, providerId);
  console.log([providerId, decimal(period.totalRevenue), period.totalRentals].join());
}

const ids = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

async function exportRest(): Promise<void> {
  for (let next = await ids.next(); !next.done; next = await ids.next()) {
    const providerId = next.value.trim();
    if (providerId === "") continue;
    try {
      await exportOne(providerId);
    } catch (thrown) {
      const { code, details } = thrown as ServiceError;
      console.error(`${providerId}: ${details}`);
      process.exitCode = 1;
      // Everything else would fail for the others too.
      if (code !== status.NOT_FOUND) throw thrown;
    }
  }
}

console.log("provider,totalRevenue,totalRentals");
try {
  await Promise.all(Array.from({ length: AT_ONCE }, exportRest));
} catch {
  process.exitCode = 1; // told above
} finally {
  close();
}
