/**
 * The examples of the OpenAPI document: requests with their responses from the demo's ledger as of
 * `EXAMPLE_NOW`, for its second provider. test/docs/openapi.test.ts repeats each of them.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseJson } from "./json.ts";
import type { DetailsByField } from "./parameters.ts";
import type { Examples } from "./responses.ts";

/** The instant of the examples, in epoch ms. */
export const EXAMPLE_NOW = Date.parse("2026-11-20T12:00:00Z");

/** The provider of the examples. It has few servers, so that the responses are short and complete. */
export const EXAMPLE_PROVIDER = "2";

/** A request, and the file of its response. */
export interface ResponseExample {
  readonly rpc: string;
  /** The name of the example in the document. */
  readonly name: string;
  readonly summary: string;
  /** The path and the query. */
  readonly target: string;
  /** The value of `Accept`. */
  readonly mediaType: "application/json" | "text/csv";
  /**
   * The absolute path of the response. JSON is indented, and not named so: a formatter would take
   * zeros from the digits.
   */
  readonly file: string;
  /** Whether the README shows the JSON, too, as it does by default. It is short. */
  readonly isInReadme?: boolean;
}

const inFile = (mediaType: ResponseExample["mediaType"], file: string) => ({
  mediaType,
  file: join(import.meta.dirname, "examples", file),
});

const overview = {
  rpc: "GetOverview",
  name: "overview",
  summary: "A provider with three servers",
  target: "/api/provider/revenue",
};
const breakdown = {
  rpc: "GetServerBreakdown",
  name: "breakdown",
  summary: "1 to 20 November 2026",
  target: "/api/provider/revenue/servers?startDate=2026-11-01&endDate=2026-11-20",
};

const daily = {
  rpc: "GetDailyRevenue",
  name: "daily",
  summary: "18 to 20 November 2026",
  target: "/api/provider/revenue/daily?startDate=2026-11-18&endDate=2026-11-20",
};

const payouts = {
  rpc: "ListPayouts",
  name: "payouts",
  summary: "The two latest payouts, and the token of the next page",
  target: "/api/provider/revenue/payouts?pageSize=2",
  isInReadme: false,
};

const charges = {
  rpc: "ListCharges",
  name: "charges",
  summary: "The two latest charges of 18 to 20 November 2026, and the token of the next page",
  target: "/api/provider/revenue/charges?startDate=2026-11-18&endDate=2026-11-20&pageSize=2",
  isInReadme: false,
};

/** Of a port that accepts service keys. */
const platform = {
  rpc: "ListProviderRevenue",
  name: "providers",
  summary: "The first two providers from 1 to 20 November 2026, and the token of the next page",
  target: "/api/platform/revenue?startDate=2026-11-01&endDate=2026-11-20&pageSize=2",
  isInReadme: false,
};

/** All requests. */
export const examples: readonly ResponseExample[] = [
  { ...overview, ...inFile("application/json", "overview.json.txt") },
  { ...overview, ...inFile("text/csv", "overview.csv") },
  { ...breakdown, ...inFile("application/json", "breakdown.json.txt") },
  { ...breakdown, ...inFile("text/csv", "breakdown.csv") },
  { ...daily, ...inFile("application/json", "daily.json.txt") },
  { ...daily, ...inFile("text/csv", "daily.csv") },
  { ...payouts, ...inFile("application/json", "payouts.json.txt") },
  { ...payouts, ...inFile("text/csv", "payouts.csv") },
  { ...charges, ...inFile("application/json", "charges.json.txt") },
  { ...charges, ...inFile("text/csv", "charges.csv") },
  { ...platform, ...inFile("application/json", "providers.json.txt") },
  { ...platform, ...inFile("text/csv", "providers.csv") },
];

/** The successful responses of an RPC as Example Objects, by media type. */
export function responseExamples(rpc: string): Readonly<Record<string, Examples>> {
  return Object.fromEntries(
    examples
      .filter((example) => example.rpc === rpc)
      .map(({ name, summary, mediaType, file }) => {
        const text = readFileSync(file, "utf8");
        const value = mediaType === "text/csv" ? text : parseJson(text);
        return [mediaType, { [name]: { summary, value } }];
      }),
  );
}

/** A year from 0001 to 9999. */
const YEAR = "([0-9]{3}[1-9]|[0-9]{2}[1-9][0-9]|[0-9][1-9][0-9]{2}|[1-9][0-9]{3})";
/** The numbers from 04 to 96 that 4 divides. */
const BY_FOUR = "(0[48]|[2468][048]|[13579][26])";
/** A day of the calendar. No lookahead: Go's regular expressions have none. */
const DAY = `(${YEAR}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|([0-9]{2}${BY_FOUR}|${BY_FOUR}00)-02-29)`;
const TIME = "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.,][0-9]+)?)?";
const OFFSET = "([Zz]|[+ −-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)";

/** The forms of an instant that the service reads, or nothing. */
const INSTANT = `^(${DAY}([Tt]${TIME}${OFFSET}?)?)?$`;

/** What the contract cannot say of the parameters. */
export const parameterDetails: DetailsByField = {
  start_date: {
    schema: { pattern: INSTANT },
    examples: {
      date: { summary: "A day, from its first millisecond", value: "2026-11-01" },
      dateTime: { summary: "An instant in UTC", value: "2026-11-01T09:30:00Z" },
      offset: { summary: "An instant with an offset", value: "2026-11-01T00:00:00+01:00" },
    },
  },
  end_date: {
    schema: { pattern: INSTANT },
    examples: {
      date: { summary: "A day, to its last millisecond", value: "2026-11-20" },
      dateTime: { summary: "An instant in UTC", value: "2026-11-20T09:30:00Z" },
    },
  },
  time_zone: {
    examples: {
      utc: { summary: "The default", value: "UTC" },
      other: { summary: "A zone of the IANA database", value: "Asia/Kolkata" },
    },
  },
  page_size: { schema: { minimum: 0 } },
};
