/**
 * Every protocol returns the same response or error to the same request, and CSV its rows, on a large
 * ledger. The parsers' tables of inputs are in test/unit/revenue/period.test.ts and test/unit/gateway/transcoding.
 */
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Outcome, withoutHeaders } from "../../support/clients/client.ts";
import { ALL_CLIENTS, FAST_CLIENTS } from "../../support/clients/clients.ts";
import { parseNumbers } from "../../support/clients/exact-json.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import type { TestDatabase } from "../../support/database.ts";
import { badRequest, errorThrough } from "../../support/expected-error.ts";
import {
  METHODS,
  type MethodName,
  paths,
  type RpcRequest,
  withKey,
} from "../../support/request.ts";
import { addBulk } from "../../support/rollup/bulk.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";

const YEAR = new Date().getUTCFullYear();

/** Messages of each RPC whose responses do not depend on the time of the call. */
const MESSAGES: Readonly<Record<MethodName, readonly RpcRequest["message"][]>> = {
  GetOverview: [{}],
  GetServerBreakdown: [
    { startDate: `${YEAR - 1}-02-01`, endDate: `${YEAR - 1}-11-30` },
    // Instants with offsets, and one millisecond.
    { startDate: `${YEAR - 1}-01-01T05:30:00.250+05:30`, endDate: `${YEAR}-01-01T00:00:00Z` },
    { startDate: `${YEAR - 1}-06-01T00:00:00.001Z`, endDate: `${YEAR - 1}-06-01T00:00:00.001Z` },
  ],
  GetDailyRevenue: [{ startDate: `${YEAR - 1}-02-01`, endDate: `${YEAR - 1}-11-30` }],
  ListPayouts: [{}, { pageSize: 1 }, { startDate: "2026-01-02", pageSize: 2_000 }],
  ListCharges: [
    { startDate: `${YEAR - 1}-02-01`, endDate: `${YEAR - 1}-02-28`, pageSize: 2_000 },
    { endDate: `${YEAR - 1}-06-01`, startDate: `${YEAR - 1}-01-01`, timeZone: "Asia/Kolkata" },
  ],
};

const REQUESTS: readonly RpcRequest[] = METHODS.flatMap((method) =>
  MESSAGES[method].map((message = {}) => ({ method, message })),
);

/** A large provider, a small one, and one without charges. */
const PROVIDERS = ["1", "2", "3"];

/** A name with each character that CSV and JSON have to quote, and which a spreadsheet would run. */
const NAME = '=1+1, "a"\n\\ 🚀';

async function addLedger({ knex }: TestDatabase): Promise<void> {
  await addBulk(knex, [
    { provider: 1, servers: 20, instances: 50, charges: 3_000, rentals: 400 },
    { provider: 2, servers: 3, instances: 0, charges: 50, rentals: 5 },
    { provider: 3, servers: 1, instances: 1, charges: 0 },
  ]);
  for (const table of ["servers", "instances"]) {
    await knex(table).where({ id: 1_001 }).update({ name: NAME });
  }
  await knex("payouts").insert(
    ["0.01", "987654321098.76"].map((amount, index) => ({
      provider_id: 1,
      public_id: `po-${index}`,
      amount,
      method: "PayPal",
      status: "Pending",
      paid_at: `2026-01-0${index + 1} 12:00:00.250`,
    })),
  );
}

let fixture: Fixture;
const keys = new Map<string, string>();
/** REST's response by provider and request, with which the others are compared. */
const references = new Map<string, unknown>();

beforeAll(async () => {
  fixture = await createFixture(addLedger);
  for (const provider of PROVIDERS) {
    keys.set(provider, await fixture.issueKey(provider));
    for (const request of REQUESTS) {
      const outcome = await call("REST", provider, request);
      expect(outcome).toHaveProperty("response");
      references.set(nameOf(provider, request), withoutHeaders(outcome));
    }
  }
});
afterAll(() => fixture?.dispose());

const nameOf = (provider: string, request: RpcRequest) => `${provider} ${JSON.stringify(request)}`;

function call(client: string, provider: string, request: RpcRequest): Promise<Outcome> {
  return fixture.clients
    .get(client)
    .call({ ...request, headers: withKey(keys.get(provider) ?? "") });
}

it.each(ALL_CLIENTS)("%s returns the same as REST", async (client) => {
  // buf curl starts a process for each call: there one call is enough.
  const isSlow = client.startsWith("buf");
  for (const provider of isSlow ? ["1"] : PROVIDERS) {
    for (const request of isSlow ? REQUESTS.slice(0, 1) : REQUESTS) {
      const [outcome, name] = [await call(client, provider, request), nameOf(provider, request)];
      expect(withoutHeaders(outcome), name).toEqual(references.get(name));
    }
  }
});

const HIDDEN = "2026\u202e-11\u200b-20\u00a0\u001b[31m\n";
const MALFORMED =
  'startDate: expected an ISO 8601 date or date-time such as 2026-11-20 or 2026-11-20T09:30:00Z, got "2026\\u{202e}-11\\u{200b}-20\\u{a0}\\u{1b}[31m\\u{a}"';
const TOO_LONG =
  "startDate: expected a period of at most 400 days, got 401 (from 2025-01-01T00:00:00.000Z to 2026-02-05T23:59:59.999Z)";

it.each(FAST_CLIENTS)("%s refuses a malformed date and more than 400 days", async (name) => {
  const listDays = (startDate: string) =>
    call(name, "2", { method: "GetDailyRevenue", message: { startDate, endDate: "2026-02-05" } });
  for (const [startDate, text] of [
    [HIDDEN, MALFORMED],
    ["2025-01-01", TOO_LONG],
  ] as const) {
    expect(withoutHeaders(await listDays(startDate))).toEqual(
      errorThrough(fixture.clients.get(name), badRequest(text)),
    );
  }
  expect(await listDays("2025-01-02")).toHaveProperty("response");
});

/** What REST answers to a provider with many servers. */
async function get(target: string, accept: string): Promise<string> {
  const headers = [...withKey(keys.get("1") ?? ""), ["accept", accept] as const];
  const { status, text } = await rawHttp(fixture.service.http, { target, headers });
  expect(status).toBe(200);
  return text;
}

/** JSON in which each number is a string with its digits. */
const json = async (target: string) =>
  parseNumbers(await get(target, "application/json"), (digits) => digits);

/** The rows of a CSV, each by column. */
const csv = async (target: string): Promise<Record<string, string>[]> =>
  parse(await get(target, "text/csv"), { columns: true, record_delimiter: "\r\n" });

/** A row of the JSON as the CSV has it: a text that a spreadsheet would run has an apostrophe. */
function harmless(row: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(row).map(([name, text]) => [
      name,
      /Name$|Type$/.test(name) && /^[=+@\t\r-]/.test(text) ? `'${text}` : text,
    ]),
  );
}

it("the CSV of the breakdown has a row per server and per instance, with the figures of the JSON", async () => {
  // Up to a fixed instant: the time of rentals that run would differ between the two requests.
  const end = new Date(Date.now() - 60_000).toISOString();
  const target = `${paths.GetServerBreakdown}?startDate=2000-01-01&endDate=${end}`;
  const { servers } = await json(target);
  const rows = servers.flatMap(({ instances, ...server }: { instances: object[] }) => [
    { ...server, instanceId: "", instanceName: "" },
    ...instances.map((instance) => ({ ...server, ...instance })),
  ]);
  expect(rows.length).toBeGreaterThan(servers.length);
  expect(await csv(target)).toEqual(rows.map(harmless));
});

it.each(ALL_CLIENTS)("through %s, payouts come page by page, each once", async (name) => {
  const ids: string[] = [];
  let pageToken = "";
  do {
    const message = { pageSize: 1, pageToken };
    const outcome = await call(name, "1", { method: "ListPayouts", message });
    const { payouts, nextPageToken } = (outcome as { response: object }).response as {
      payouts: { payoutId: string }[];
      nextPageToken: string;
    };
    ids.push(...payouts.map(({ payoutId }) => payoutId));
    pageToken = nextPageToken;
    // buf curl prints no headers.
    if (!name.startsWith("buf")) expect(outcome.headers["next-page-token"] ?? "").toBe(pageToken);
  } while (pageToken !== "" && ids.length < 5);
  expect(ids).toEqual(["po-1", "po-0"]);
});

/** The charges of provider 2 in the order of the list, and the request for some of them. */
const CHARGES = { startDate: `${YEAR - 2}-01-01`, endDate: `${YEAR - 1}-12-31` };

it.each(ALL_CLIENTS)("through %s, charges come page by page, each once", async (name) => {
  const all = { method: "ListCharges", message: { ...CHARGES, pageSize: 1_000 } } as const;
  const outcome = await call("REST", "2", all);
  const { charges: expected } = (outcome as { response: object }).response as {
    charges: object[];
  };
  // buf curl starts a process for each call.
  const pageSize = Math.ceil(expected.length / (name.startsWith("buf") ? 2 : 7));
  const charges: object[] = [];
  let [pageToken, pages] = ["", 0];
  do {
    const message = { ...CHARGES, pageSize, pageToken };
    const outcome = await call(name, "2", { method: "ListCharges", message });
    const page = (outcome as { response: object }).response as {
      charges: object[];
      nextPageToken: string;
    };
    charges.push(...page.charges);
    pageToken = page.nextPageToken;
    pages++;
    if (!name.startsWith("buf")) expect(outcome.headers["next-page-token"] ?? "").toBe(pageToken);
  } while (pageToken !== "" && pages < 20);
  expect(charges.length).toBeGreaterThan(10);
  expect(charges).toEqual(expected);
});

it("the CSV of charges has the rows of the JSON, page by page, with the token in a header", async () => {
  const period = `startDate=${CHARGES.startDate}&endDate=${CHARGES.endDate}`;
  const { charges } = await json(`${paths.ListCharges}?${period}&pageSize=1000`);
  const rows: Record<string, string>[] = [];
  let pageToken = "";
  do {
    const target = `${paths.ListCharges}?${period}&pageSize=300&pageToken=${pageToken}`;
    const headers = [...withKey(keys.get("1") ?? ""), ["accept", "text/csv"] as const];
    const response = await rawHttp(fixture.service.http, { target, headers });
    const page: typeof rows = parse(response.text, { columns: true, record_delimiter: "\r\n" });
    rows.push(...page);
    pageToken = String(response.headers["next-page-token"] ?? "");
  } while (pageToken !== "" && rows.length < 5_000);
  expect(rows.length).toBeGreaterThan(1_000);
  expect(rows.slice(0, 1_000)).toEqual(charges.map(harmless));
});

it("the CSV of payouts has the token of the next page in a header", async () => {
  const ids: string[] = [];
  let pageToken = "";
  do {
    const target = `${paths.ListPayouts}?pageSize=1&pageToken=${pageToken}`;
    const headers = [...withKey(keys.get("1") ?? ""), ["accept", "text/csv"] as const];
    const response = await rawHttp(fixture.service.http, { target, headers });
    const rows: { payoutId: string }[] = parse(response.text, { columns: true });
    ids.push(...rows.map(({ payoutId }) => payoutId));
    pageToken = String(response.headers["next-page-token"] ?? "");
  } while (pageToken !== "" && ids.length < 5);
  expect(ids).toEqual(["po-1", "po-0"]);
});

it.each(FAST_CLIENTS)(
  "%s refuses a token of another request and a negative page size",
  async (name) => {
    const list = (message: RpcRequest["message"] & object) =>
      call(name, "1", { method: "ListPayouts", message });
    const refusal = (text: string) => errorThrough(fixture.clients.get(name), badRequest(text));
    expect(withoutHeaders(await list({ pageToken: "x" }))).toEqual(
      refusal(
        'pageToken: expected the nextPageToken of a response to the same startDate and endDate, got "x" (it was changed, is of another version, or belongs to another list or provider)',
      ),
    );
    expect(withoutHeaders(await list({ pageSize: -1 }))).toEqual(
      refusal("pageSize: expected 0 (the default, 50) or more, got -1"),
    );
    const ofCharges = { method: "ListCharges", message: { pageToken: "x" } } as const;
    expect(withoutHeaders(await call(name, "1", ofCharges))).toEqual(
      refusal(
        'pageToken: expected the nextPageToken of a response to the same startDate, endDate and timeZone, got "x" (it was changed, is of another version, or belongs to another list or provider)',
      ),
    );
  },
);
