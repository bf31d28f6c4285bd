/** The curl commands that the page exports, and the periods of its buttons. */
import { expect, it } from "vitest";
import { curlCommand } from "../../../web/src/export/snippets.ts";
import { presets } from "../../../web/src/period/period.ts";

it("a curl command has the period, and the key as a variable", () => {
  const parameters = { startDate: "2026-11-01" };
  expect(curlCommand("https://x", "/a", parameters)).toBe(
    `curl -H "x-api-key: $REVENUE_API_KEY" 'https://x/a?startDate=2026-11-01'`,
  );
  expect(curlCommand("https://x", "/a", {})).toBe(
    `curl -H "x-api-key: $REVENUE_API_KEY" 'https://x/a'`,
  );
});

it.each([
  [
    "2026-01-01T00:00:00Z",
    "2026-01-01/01-01, 2025-12-01/12-31, 2025-12-03/01-01, 2026-01-01/01-01",
  ],
  [
    "2028-03-31T23:59:59Z",
    "2028-03-01/03-31, 2028-02-01/02-29, 2028-03-02/03-31, 2028-01-01/03-31",
  ],
])("at %s the periods are calendar days in UTC: %s", (now, expected) => {
  const periods = presets(new Date(now));
  const texts = periods.map(({ startDate, endDate }) => `${startDate}/${endDate.slice(5)}`);
  expect(texts.join(", ")).toBe(expected);
});
