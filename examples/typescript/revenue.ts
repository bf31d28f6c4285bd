/**
 * Prints the year's earnings, and what each server earned in the last 30 days. Needs REVENUE_URL
 * and REVENUE_API_KEY. The client retries what is safe to retry.
 */
import { ConnectError, createRevenueClient, decimal } from "revenue-service-client";

const { REVENUE_URL: baseUrl = "", REVENUE_API_KEY: apiKey = "" } = process.env;
const client = createRevenueClient({ baseUrl, apiKey });

try {
  const { summary } = await client.getOverview({});
  console.log("earnings this year:", decimal(summary?.totalEarningsYtd));
  console.log("balance:", decimal(summary?.availableBalance));

  const { servers, totalRevenue } = await client.getServerBreakdown({});
  for (const server of servers) {
    console.log(decimal(server.totalRevenue).padStart(14), "", server.serverName);
  }
  console.log(decimal(totalRevenue).padStart(14), "", "in all");
} catch (thrown) {
  const error = ConnectError.from(thrown);
  console.error(error.message, `(request ${error.metadata.get("x-request-id")})`);
  process.exitCode = 1;
}
