/**
 * Every protocol returns the same response or error to the same request, CSV its rows, and every instance the next page,
 * on a large ledger. The parsers' tables of inputs are in test/unit/revenue and test/unit/gateway/transcoding.
 */
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Outcome, withoutHeaders } from "../../support/clients/client.ts";
import {
  CLIENTS,
  type Clients,
  DEADLINE_CLIENTS,
  openClients,
} from "../../support/clients/clients.ts";
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
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";

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
  ListPayouts: [
    {},
    { pageSize: 1 },
    { startDate: "2026-01-02", timeZone: "Asia/Kolkata", pageSize: 2_000 },
  ],
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
  await knex("providers").where({ id: 1 }).update({ name: NAME });
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
/** Another instance of the service, on the same database. */
let other: ServiceProcess;
let clientsOfOther: Clients;
const keys = new Map<string, string>();
/** REST's response by provider and request, with which the others are compared. */
const references = new Map<string, unknown>();

beforeAll(async () => {
  fixture = await createFixture(addLedger);
  other = await startService(fixture.database.url);
  clientsOfOther = openClients(other);
  for (const provider of PROVIDERS) {
    keys.set(provider, await fixture.issueKey(provider));
    for (const request of REQUESTS) {
      const outcome = await call("REST", provider, request);
      expect(outcome).toHaveProperty("response");
      references.set(nameOf(provider, request), withoutHeaders(outcome));
    }
  }
});
afterAll(async () => {
  clientsOfOther?.close();
  await other?.kill();
  await fixture?.dispose();
});

const nameOf = (provider: string, request: RpcRequest) => `${provider} ${JSON.stringify(request)}`;

const withKeyOf = (provider: string) => withKey(keys.get(provider) ?? "");

function call(
  client: string,
  provider: string,
  request: RpcRequest,
  clients = fixture.clients,
): Promise<Outcome> {
  return clients.get(client).call({ ...request, headers: withKeyOf(provider) });
}

it.each(DEADLINE_CLIENTS)("%s returns the same as REST", async (client) => {
  for (const provider of PROVIDERS) {
    for (const request of REQUESTS) {
      const [outcome, name] = [await call(client, provider, request), nameOf(provider, request)];
      expect(withoutHeaders(outcome), name).toEqual(references.get(name));
    }
  }
});

const HIDDEN = "2026\u202e-11\u200b-20\u00a0\u001b[31m\n";
/** A request that a parser refuses, and one that the list does, with the whole texts. */
const REFUSALS: readonly [RpcRequest["method"], RpcRequest["message"] & object, string][] = [
  [
    "GetDailyRevenue",
    { startDate: HIDDEN },
    'startDate: expected an ISO 8601 date or date-time such as 2026-11-20 or 2026-11-20T09:30:00Z, got "2026\\u{202e}-11\\u{200b}-20\\u{a0}\\u{1b}[31m\\u{a}"',
  ],
  [
    "ListCharges",
    { pageToken: "x" },
    'pageToken: expected the nextPageToken of a response to the same startDate, endDate and timeZone, got "x" (it was changed, is of another version, or belongs to another list or provider)',
  ],
];

it.each(CLIENTS)("%s passes on each refusal", async (name) => {
  for (const [method, message, text] of REFUSALS) {
    const outcome = await call(name, "2", { method, message });
    const expected = errorThrough(fixture.clients.get(name), badRequest(text));
    expect(withoutHeaders(outcome)).toEqual(expected);
  }
});

type Row = Readonly<Record<string, string>>;

/** What REST answers to a provider with many servers: the rows of the CSV, by column, or else the JSON, with its digits. */
async function get(target: string, accept: "text/csv" | "application/json") {
  const headers = [...withKeyOf("1"), ["accept", accept] as const];
  const answer = await rawHttp(fixture.service.http, { target, headers });
  const { status, text, headers: received } = answer;
  expect(status).toBe(200);
  const rows: Row[] =
    accept === "text/csv" ? parse(text, { columns: true, record_delimiter: "\r\n" }) : [];
  const json = accept === "text/csv" ? undefined : parseNumbers(text, (digits) => digits);
  return { rows, json, next: `${received["next-page-token"] ?? ""}` };
}

/** A row of the JSON as the CSV has it: a text that a spreadsheet would run has an apostrophe. */
function harmless(row: Row): Row {
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
  const { servers } = (await get(target, "application/json")).json;
  const rows = servers.flatMap(({ instances, ...server }: { instances: object[] }) => [
    { ...server, instanceId: "", instanceName: "" },
    ...instances.map((instance) => ({ ...server, ...instance })),
  ]);
  expect(rows.length).toBeGreaterThan(servers.length);
  expect((await get(target, "text/csv")).rows).toEqual(rows.map(harmless));
});

/** All rows of a list, page by page, and how many pages they are. */
async function pagesOf<T>(
  get: (pageToken: string, nth: number) => Promise<{ rows: T[]; next: string }>,
) {
  const rows: T[] = [];
  let [token, pages] = ["", 0];
  do {
    const page = await get(token, pages);
    rows.push(...page.rows);
    token = page.next;
    pages++;
  } while (token !== "" && pages < 20);
  return { rows, pages };
}

/** Two years of charges, of which provider 2 has few, and provider 1 several pages of CSV. */
const CHARGES = { startDate: `${YEAR - 2}-01-01`, endDate: `${YEAR - 1}-12-31` };

it.each(CLIENTS)(
  "through %s, charges come page by page, each from another instance",
  async (name) => {
    const page = async (pageSize: number, pageToken = "", clients = fixture.clients) => {
      const request = {
        method: "ListCharges",
        message: { ...CHARGES, pageSize, pageToken },
      } as const;
      const { response, headers } = (await call(name, "2", request, clients)) as {
        response: { charges: object[]; nextPageToken: string };
      } & Outcome;
      expect(headers["next-page-token"] ?? "").toBe(response.nextPageToken);
      return { rows: response.charges, next: response.nextPageToken };
    };
    const { rows: all } = await page(1_000);
    const size = Math.ceil(all.length / 7);
    const { rows, pages } = await pagesOf((token, nth) =>
      page(size, token, nth % 2 === 0 ? fixture.clients : clientsOfOther),
    );
    expect(pages).toBeGreaterThan(2);
    expect(rows).toEqual(all);
    // Each instance writes the same token, and so has the same entity tag.
    expect(await page(size, "", clientsOfOther)).toEqual(await page(size));
  },
);

it("the CSV of charges has the rows of the JSON, page by page, with the token in a header", async () => {
  const target = `${paths.ListCharges}?startDate=${CHARGES.startDate}&endDate=${CHARGES.endDate}`;
  const { charges } = (await get(`${target}&pageSize=1000`, "application/json")).json;
  const { rows, pages } = await pagesOf((token) =>
    get(`${target}&pageSize=300&pageToken=${token}`, "text/csv"),
  );
  expect(pages).toBeGreaterThan(3);
  expect(rows.slice(0, 1_000)).toEqual(charges.map(harmless));
});
