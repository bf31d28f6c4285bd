/** Prints the overview of any provider: node support.mts 7. Needs what grpc.mts says. */
import type { ServiceError } from "@grpc/grpc-js";
import { decimal, RevenueService } from "revenue-service-client";
import { call, close } from "./grpc.mts";

const [providerId = ""] = process.argv.slice(2);

try {
  const overview = await call(RevenueService.method.getOverview, {}, providerId);
  console.log("earnings this year:", decimal(overview.summary?.totalEarningsYtd));
  console.log("balance:", decimal(overview.summary?.availableBalance));
  for (const server of overview.serverRevenue) {
    console.log(decimal(server.totalEarnings).padStart(14), "", server.serverName);
  }
} catch (thrown) {
  const { details, metadata } = thrown as ServiceError;
  console.error(`${details} (request ${metadata?.get("x-request-id")})`);
  process.exitCode = 1;
} finally {
  close();
}
