/** The text that the demo prints when it is ready: addresses, API key, database and example requests. */
import type { RunningService } from "./service.ts";

/**
 * Formats the text. The breakdowns cover the current month, in UTC.
 *
 * @param privateUrl of the demo's own database; undefined for one of the user's, whose password is not printed
 */
export function formatInstructions(
  { http, grpc }: RunningService,
  key: string,
  privateUrl: string | undefined,
): string {
  const month = new Date().toISOString().slice(0, 7);
  const database = privateUrl ? "removes its database" : "leaves the database as it is";
  const exported = privateUrl ? `  export DATABASE_URL=${privateUrl}\n` : "";
  return `
The service is ready.

  Page (enter the API key)  ${http}/
  API reference             ${http}/docs
  REST, Connect, gRPC-Web   ${http}
  gRPC                      ${grpc}
  API key                   ${key}

Requests to paste into another terminal, in this folder (the README's use $KEY, and its commands $DATABASE_URL):

  export KEY=${key}
${exported}
  curl -H 'x-api-key: ${key}' '${http}/api/provider/revenue'

  curl -H 'Authorization: Bearer ${key}' '${http}/api/provider/revenue/servers?startDate=${month}-01'

  curl -H 'x-api-key: ${key}' '${http}/api/provider/revenue/daily'

  npx buf curl --protocol grpc --http2-prior-knowledge -H 'x-api-key: ${key}' \\
    ${grpc}/revenue.v1.RevenueService/GetOverview

  npx buf curl --protocol grpc --http2-prior-knowledge -H 'x-api-key: ${key}' \\
    -d '{"startDate":"${month}-01"}' ${grpc}/revenue.v1.RevenueService/GetServerBreakdown

Ctrl-C stops the service and ${database}. Its log follows, a line per call.
`;
}
