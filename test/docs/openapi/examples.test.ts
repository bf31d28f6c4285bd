/**
 * The examples of the OpenAPI document are real: each request is sent to the service on the demo's
 * ledger, and its response compared with the example, digit by digit.
 *
 * `RECORD=1` writes the responses to the files of the examples; run `npm run generate` after that.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seed } from "../../../dev/demo-data/seed.ts";
import { EXAMPLE_NOW, EXAMPLE_PROVIDER, examples } from "../../../dev/openapi/examples.ts";
import { parseJson, writeJson } from "../../../dev/openapi/json.ts";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { createRead } from "../../../src/db/query.ts";
import { createGateway, type Gateway } from "../../../src/gateway/server.ts";
import { createAddresses } from "../../../src/net/address.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { createRpc } from "../../../src/rpc/pipeline.ts";
import { type RawResponse, rawHttp } from "../../support/clients/raw-http.ts";
import { collectLog } from "../../support/collected-log.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
let gateway: Gateway;
let url: string;
beforeAll(async () => {
  database = await createDatabase();
  await seed(database.knex, EXAMPLE_NOW, () => {});
  const { log } = collectLog();
  const { getOverview, getServerBreakdown } = createRevenueService(createRead(database.knex));
  const rpc = createRpc({
    service: RevenueService,
    handlers: {
      getOverview: (request, context) => getOverview(request, { ...context, now: EXAMPLE_NOW }),
      getServerBreakdown: (request, context) =>
        getServerBreakdown(request, { ...context, now: EXAMPLE_NOW }),
    },
    authenticate: async () => ({ providerId: EXAMPLE_PROVIDER }),
    log,
    limits: { total: 10, perProvider: 10 },
    maxCall: 10_000,
  });
  gateway = createGateway({ service: RevenueService, rpc, addresses: createAddresses([]), log });
  url = `http://127.0.0.1:${await gateway.listen("127.0.0.1", 0)}`;
});
afterAll(async () => {
  await gateway?.stop(0);
  await database?.drop();
});

/** The document, with numbers that keep their digits. */
const document = JSON.parse(
  readFileSync("gen/openapi.json", "utf8"),
  (_name, value, context?: { readonly source?: string }) =>
    typeof value === "number" ? { digits: context?.source } : value,
);

/** A body as the document has it. */
const exactly = (text: string) =>
  JSON.parse(text, (_name, value, context?: { readonly source?: string }) =>
    typeof value === "number" ? { digits: context?.source } : value,
  );

it.each(examples)("the response of $target as $mediaType is the service's", async (example) => {
  const { target, mediaType, file } = example;
  const { status, text } = await rawHttp(url, { target, headers: [["accept", mediaType]] });
  expect(status).toBe(200);
  const isJson = mediaType === "application/json";
  if (process.env.RECORD) writeFileSync(file, isJson ? writeJson(parseJson(text)) : text);
  const recorded = readFileSync(file, "utf8");
  if (isJson) expect(exactly(recorded)).toEqual(exactly(text));
  else expect(recorded).toBe(text);
});

it.each(examples)("the document shows the response of $target as $mediaType", (example) => {
  const { rpc, name, target, mediaType, file } = example;
  const [path = ""] = target.split("?");
  const operation = document.paths[path].get;
  expect(operation.operationId).toBe(rpc.charAt(0).toLowerCase() + rpc.slice(1));
  const shown = operation.responses[200].content[mediaType].examples[name].value;
  const recorded = readFileSync(file, "utf8");
  expect(shown).toEqual(mediaType === "text/csv" ? recorded : exactly(recorded));
});

describe("a parameter's examples are accepted:", () => {
  const path = "/api/provider/revenue/servers";
  const parameters: Parameter[] = document.paths[path].parameters;
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const values = inQuery.flatMap(({ name, schema, examples }) =>
    Object.values(examples).map(({ value }) => [name, value, schema.pattern] as const),
  );

  it.each(values)("%s=%s", async (name, value, pattern) => {
    const query = new URLSearchParams({ [name]: value });
    expect((await rawHttp(url, { target: `${path}?${query}` })).status).toBe(200);
    expect(value).toMatch(new RegExp(pattern, "u"));
  });
});

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: { readonly pattern: string };
  readonly examples: Readonly<Record<string, { readonly value: string }>>;
}

/** Requests that get the errors of the examples. The other errors need a fault, or a crowd. */
const REQUESTS: Readonly<Record<string, () => Promise<RawResponse>>> = {
  malformedDate: () => send("/api/provider/revenue/servers?startDate=2026-02-30"),
  startAfterEnd: () =>
    send("/api/provider/revenue/servers?startDate=2026-11-20&endDate=2026-11-01"),
  unknownParameter: () => send("/api/provider/revenue/servers?start=2026-11-01"),
  repeatedParameter: () =>
    send("/api/provider/revenue/servers?endDate=2026-11-01&endDate=2026-11-20"),
  notFound: () => send("/api/provider"),
  methodNotAllowed: () => rawHttp(url, { target: "/api/provider/revenue", method: "DELETE" }),
  notAcceptable: () =>
    rawHttp(url, { target: "/api/provider/revenue", headers: [["accept", "text/html"]] }),
  messageTooLarge: () =>
    rawHttp(url, { target: "/api/provider/revenue", headers: [["content-length", "70000"]] }),
  expectation: () => rawHttp(url, { target: "/api/provider/revenue", headers: [["expect", "x"]] }),
  headersTooLarge: () =>
    rawHttp(url, { target: "/api/provider/revenue", headers: [["x", "x".repeat(20_000)]] }),
};

const send = (target: string) => rawHttp(url, { target });

interface ResponseObject {
  readonly content?: { readonly "application/json": { readonly examples: Shown } };
}
type Shown = Readonly<Record<string, { readonly value: unknown }>>;

const shownErrors = Object.assign(
  {},
  ...Object.values<ResponseObject>(document.components.responses).map(
    ({ content }) => content?.["application/json"].examples,
  ),
) as Shown;

it.each(Object.entries(REQUESTS))("the error %s is the service's", async (name, request) => {
  const { text } = await request();
  expect(shownErrors[name]?.value).toEqual(JSON.parse(text));
});

it("every error that a plain request can get is repeated", () => {
  const others = ["unauthenticated", "requestTimeout", "rateLimited", "tooManyCalls"];
  const crowded = ["tooManyFailures", "internal", "overloaded"];
  expect(Object.keys(shownErrors).sort()).toEqual(
    [...Object.keys(REQUESTS), ...others, ...crowded].sort(),
  );
});
