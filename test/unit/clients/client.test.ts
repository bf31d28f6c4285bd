/** The options of the TypeScript client. */
import { expect, it } from "vitest";
import { createRevenueClient } from "../../../clients/typescript/src/index.ts";

it.each([
  ["", "baseUrl is empty; expected one like https://revenue.example.com"],
  ["revenue.example.com", "baseUrl is not a valid URL; expected one like"],
  ["/api", "baseUrl is not a valid URL; expected one like"],
  ["https://", "baseUrl is not a valid URL; expected one like"],
  ["ftp://revenue.example.com", "baseUrl is not a valid URL; expected one like"],
])("refuses the base URL '%s'", (baseUrl, message) => {
  expect(() => createRevenueClient({ baseUrl, apiKey: "k" })).toThrow(message);
});
