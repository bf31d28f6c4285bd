/** The curl commands that the page exports. */
import { expect, it } from "vitest";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { curlCommand, targetOf } from "../../../web/src/export/curl-command.ts";

it("a curl command has the path and the period of the call, and the key as a variable", () => {
  const { getServerBreakdown, listPayouts } = RevenueService.method;
  const parameters = { startDate: "2026-11-01", timeZone: "Asia/Kolkata" };
  expect(curlCommand("https://x/y", targetOf(getServerBreakdown, parameters))).toBe(
    `curl -H "x-api-key: $REVENUE_API_KEY" 'https://x/y/api/provider/revenue/servers?startDate=2026-11-01&timeZone=Asia%2FKolkata'`,
  );
  expect(targetOf(listPayouts, {})).toBe("/api/provider/revenue/payouts");
});
