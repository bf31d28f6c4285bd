/** The curl commands that the page exports. */
import { expect, it } from "vitest";
import { curlCommand } from "../../../web/src/export/snippets.ts";

it("a curl command has the period, and the key as a variable", () => {
  const parameters = { startDate: "2026-11-01", timeZone: "Asia/Kolkata" };
  expect(curlCommand("https://x", "/a", parameters)).toBe(
    `curl -H "x-api-key: $REVENUE_API_KEY" 'https://x/a?startDate=2026-11-01&timeZone=Asia%2FKolkata'`,
  );
  expect(curlCommand("https://x", "/a", {})).toBe(
    `curl -H "x-api-key: $REVENUE_API_KEY" 'https://x/a'`,
  );
});
