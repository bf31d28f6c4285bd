/** The text that the demo prints when it is ready: addresses, API key and example requests. */
import type { RunningService } from "./service.ts";

/** Formats the text. The breakdowns cover the current month, in UTC. */
export function formatInstructions(
  { http, grpc }: RunningService,
  key: string,
  isDatabasePrivate: boolean,
): string {
  const month = new Date().toISOString().slice(0, 7);
  const database = isDatabasePrivate ? "removes its database" : "leaves the database as it is";
  return `
The service is ready.

  Page (enter the API key)  ${http}/
  API reference             ${http}/docs
  REST, Connect, gRPC-Web   ${http}
  gRPC                      ${grpc}
  API key                   ${key}

Requests to paste into another terminal, in this folder (the README's use $KEY):

  export KEY=${key}

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
