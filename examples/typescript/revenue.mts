/**
 * Prints the year's earnings, and those of each day and each server in the last 30 days. Needs
 * REVENUE_URL and REVENUE_API_KEY. The client retries by itself. It is not on npm yet: `npm pack` in
 * clients/typescript of the repository makes the package to install.
 */
import { ConnectError, createRevenueClient, decimal } from "revenue-service-client";

const { REVENUE_URL: baseUrl = "", REVENUE_API_KEY: apiKey = "" } = process.env;

try {
  const client = createRevenueClient({ baseUrl, apiKey });
  const { summary } = await client.getOverview({});
  console.log("earnings this year:", decimal(summary?.totalEarningsYtd));
  console.log("balance:", decimal(summary?.availableBalance));

  const { days } = await client.getDailyRevenue({});
  for (const day of days) console.log(decimal(day.earnings).padStart(14), "", day.date);

  const { servers, totalRevenue } = await client.getServerBreakdown({});
  for (const server of servers) {
    console.log(decimal(server.totalRevenue).padStart(14), "", server.serverName);
  }
  console.log(decimal(totalRevenue).padStart(14), "", "in all");
} catch (thrown) {
  const error = ConnectError.from(thrown);
  const requestId = error.metadata.get("x-request-id");
  console.error(error.rawMessage + (requestId === null ? "" : ` (request ${requestId})`));
  process.exitCode = 1;
}
