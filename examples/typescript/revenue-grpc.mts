/**
 * Prints the year's earnings, and what each server earned in the last 30 days, over gRPC: node revenue-grpc.mts.
 * Needs what grpc.mts says, with a provider's key.
 */
import type { ServiceError } from "@grpc/grpc-js";
import { decimal, RevenueService } from "revenue-service-client";
import { call, close } from "./grpc.mts";

try {
  const { summary } = await call(RevenueService.method.getOverview, {});
  // Amounts are decimal strings. Calculate with a decimal library or with bigints of cents.
  console.log("earnings this year:", decimal(summary?.totalEarningsYtd));
  console.log("balance:", decimal(summary?.availableBalance));

  const { servers, totalRevenue } = await call(RevenueService.method.getServerBreakdown, {});
  for (const server of servers) {
    console.log(decimal(server.totalRevenue).padStart(14), "", server.serverName);
  }
  console.log(decimal(totalRevenue).padStart(14), "", "in all");
} catch (thrown) {
  const { details, metadata } = thrown as ServiceError;
  console.error(`${details} (request ${metadata?.get("x-request-id")})`);
  process.exitCode = 1;
} finally {
  close();
}
