/**
 * The examples of the OpenAPI document are real: each request is sent to the service on the demo's
 * ledger, and its response compared with the example, digit by digit.
 *
 * `RECORD=1` writes the responses to the files of the examples; run `npm run generate` after that.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seed } from "../../dev/demo-data/seed.ts";
import { EXAMPLE_NOW, EXAMPLE_PROVIDER, examples } from "../../dev/openapi/examples.ts";
import { parseJson, writeJson } from "../../dev/openapi/json.ts";
import { PlatformRevenueService } from "../../gen/revenue/v1/platform_pb.ts";
import { RevenueService } from "../../gen/revenue/v1/revenue_pb.ts";
import { toDatetime } from "../../src/db/datetime.ts";
import { createRead } from "../../src/db/query.ts";
import { ServiceError, type ServiceErrorKind, serviceErrors } from "../../src/errors.ts";
import { errorResponse } from "../../src/gateway/errors.ts";
import { createGateway, type Gateway } from "../../src/gateway/server.ts";
import { bindRoutes } from "../../src/gateway/transcoding/routes.ts";
import { createAddresses } from "../../src/net/address.ts";
import { createRevenueService } from "../../src/revenue/service.ts";
import { createRpc } from "../../src/rpc/pipeline.ts";
import { isForPlatform, METHODS, servicesOn } from "../../src/services.ts";
import { findAnyProvider, providerKey, serviceKey } from "../support/caller-key.ts";
import { parseNumbers } from "../support/clients/exact-json.ts";
import { type RawResponse, rawHttp } from "../support/clients/raw-http.ts";
import { collectLog } from "../support/collected-log.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { atTimeOfCall } from "../support/ledger/call.ts";
import { blockWith } from "./markdown.ts";

let database: TestDatabase;
/** What a call of a service key has in place of a key. */
const SERVICE_KEY = "service";

let gateway: Gateway;
let url: string;
/** Of a port that accepts service keys. */
let ofServiceKeys: Gateway;
let urlOfServiceKeys: string;
beforeAll(async () => {
  database = await createDatabase();
  await seed(database.knex, EXAMPLE_NOW, () => {});
  const { log } = collectLog();
  const read = atTimeOfCall(createRead(database.knex), toDatetime(EXAMPLE_NOW));
  const rpc = createRpc({
    service: { method: METHODS },
    // A key of its own would make other tokens each time.
    handlers: createRevenueService(read, { pageTokenKey: new Uint8Array(32) }),
    authenticate: async ({ xApiKey: [kind] }) =>
      kind === SERVICE_KEY ? serviceKey() : providerKey(EXAMPLE_PROVIDER),
    isForPlatform,
    findProvider: findAnyProvider,
    log,
    limits: { total: 10, perProvider: 10 },
    maxCall: 10_000,
  });
  const services = [RevenueService];
  gateway = createGateway({ services, rpc, addresses: createAddresses([]), log });
  const all = servicesOn("http", "all");
  ofServiceKeys = createGateway({ services: all, rpc, addresses: createAddresses([]), log });
  url = `http://127.0.0.1:${await gateway.listen("127.0.0.1", 0)}`;
  urlOfServiceKeys = `http://127.0.0.1:${await ofServiceKeys.listen("127.0.0.1", 0)}`;
});
afterAll(async () => {
  await gateway?.stop(0);
  await ofServiceKeys?.stop(0);
  await database?.drop();
});

/** A JSON text as a value, with numbers that keep their digits. */
const exactly = (text: string) => parseNumbers(text, (digits) => ({ digits }));

const text = readFileSync("gen/openapi.json", "utf8");
const document = exactly(text);
const textOfServiceKeys = readFileSync("gen/openapi-service-keys.json", "utf8");
const documentOfServiceKeys = exactly(textOfServiceKeys);

/** The RPCs, and the paths, that only a port which accepts service keys has. */
const PLATFORM_RPCS = PlatformRevenueService.methods.map(({ name }) => name);
const PLATFORM_PATHS = bindRoutes([PlatformRevenueService]).map(({ template }) => template);

it.each(examples)(
  "the document shows $target as $mediaType, as the service answers",
  async (example) => {
    const { rpc, name, target, mediaType, file } = example;
    const isForAll = PLATFORM_RPCS.includes(rpc);
    const { status, text } = await rawHttp(isForAll ? urlOfServiceKeys : url, {
      target,
      headers: [["accept", mediaType], ...(isForAll ? [["x-api-key", SERVICE_KEY] as const] : [])],
    });
    expect(status).toBe(200);
    const isJson = mediaType === "application/json";
    if (process.env.RECORD) {
      // The document has the new response after the next `npm run generate`.
      writeFileSync(file, isJson ? writeJson(parseJson(text)) : text);
      return;
    }
    const [path = ""] = target.split("?");
    const operation = (isForAll ? documentOfServiceKeys : document).paths[path].get;
    expect(operation.operationId).toBe(rpc.charAt(0).toLowerCase() + rpc.slice(1));
    const shown = operation.responses[200].content[mediaType].examples[name].value;
    expect(shown).toEqual(isJson ? exactly(text) : text);
  },
);

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

/** Errors of Connect, gRPC-Web and gRPC only. */
const NOT_IN_REST: readonly ServiceErrorKind[] = ["unsupported"];
/** Errors whose message is always more specific than the catalogue's. */
const SPECIFIC: readonly ServiceErrorKind[] = ["invalidArgument", "notFound", "methodNotAllowed"];

const { paths } = JSON.parse(text);
/** Also of a port that accepts service keys, whose document has the other one and more. */
const WITH_SERVICE_KEYS = JSON.parse(textOfServiceKeys);

it("generators make one method of each RPC, and a package whose name outlives the beta", () => {
  const methods = Object.values<Record<string, { readonly operationId: string }>>(paths).flatMap(
    ({ parameters: _, ...operations }) => Object.values(operations),
  );
  expect(methods.map(({ operationId }) => operationId)).toEqual(
    RevenueService.methods.map(({ localName }) => localName),
  );
  expect(JSON.parse(text).info.title).toBe("Revenue API");
});

it("names fields as JSON does, and the list that CSV has as its rows", () => {
  const snake = RevenueService.file.messages
    .flatMap(({ fields }) => fields)
    .filter(({ name, jsonName }) => name !== jsonName);
  expect(snake.filter(({ name }) => text.includes(`\`${name}\``))).toEqual([]);
  for (const path of Object.keys(paths)) {
    const { content } = document.paths[path].get.responses[200];
    const shownIn = ({ examples }: { examples: object }) => Object.values(examples)[0].value;
    const [, rows = ""] =
      /each entry of `(\w+)`/.exec(content["text/csv"].schema.description) ?? [];
    const [columns = ""] = shownIn(content["text/csv"]).split("\r\n");
    const [first] = shownIn(content["application/json"])[rows] ?? [];
    const names = Object.keys(first).filter((name) => !Array.isArray(first[name]));
    expect(columns.split(","), path).toEqual(expect.arrayContaining(names));
  }
});

it("the function of docs/api.md keeps the digits that JSON.parse loses", async () => {
  const source = `${blockWith("js", "const exact =")}export { exact };`;
  const { exact } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  const { text: body } = await send("/api/provider/revenue");
  const { pricePerHour, totalEarnings } = exact(body).serverRevenue[0];
  expect(body).toContain(`"pricePerHour":${pricePerHour},"totalEarnings":${totalEarnings},`);
  expect(exact('{"a":[4500.00,"4500.00",2,true,null]}')).toEqual({
    a: ["4500.00", "4500.00", "2", true, null],
  });
});

it.each([...Object.keys(paths), ...PLATFORM_PATHS])(
  "%s has every error that a REST caller can see",
  (path) => {
    const kinds = (Object.keys(serviceErrors) as ServiceErrorKind[]).filter(
      (kind) => !NOT_IN_REST.includes(kind),
    );
    const { components } = WITH_SERVICE_KEYS;
    const { get } = WITH_SERVICE_KEYS.paths[path];
    for (const kind of kinds) {
      const { status, headers, body } = errorResponse(new ServiceError(kind));
      const response = components.responses[nameIn(get.responses[status])];
      expect(Object.keys(response.headers)).toEqual(expect.arrayContaining(Object.keys(headers)));
      const { schema, examples } = response.content["application/json"];
      expect(components.schemas[nameIn(schema)].required).toEqual(Object.keys(JSON.parse(body)));
      const bodies = Object.values<{ value: unknown }>(examples).map(({ value }) => value);
      if (!SPECIFIC.includes(kind)) expect(bodies, kind).toContainEqual(JSON.parse(body));
    }
  },
);

it("the document of a port that accepts service keys has the other one, and names x-provider-id", () => {
  expect(WITH_SERVICE_KEYS).toMatchObject({ paths: {}, openapi: "3.1.1" });
  const { paths: all } = WITH_SERVICE_KEYS;
  expect(Object.keys(all)).toEqual([...Object.keys(paths), ...PLATFORM_PATHS]);
  for (const path of PLATFORM_PATHS) {
    expect(all[path].parameters.map(({ name }: { name: string }) => name)).not.toContain(
      "x-provider-id",
    );
  }
  for (const path of Object.keys(paths)) {
    const { parameters, get }: Operations = all[path];
    const before: Operations = paths[path];
    const own = parameters.filter(({ name }) => name !== "x-provider-id");
    expect(own).toEqual(before.parameters);
    expect(own).toHaveLength(parameters.length - 1);
    expect(Object.keys(get.responses).filter((status) => status !== "403")).toEqual(
      Object.keys(before.get.responses),
    );
  }
  expect(text).not.toContain("x-provider-id");
});

/** What is compared of a path. */
interface Operations {
  readonly parameters: readonly { readonly name: string }[];
  readonly get: { readonly responses: Readonly<Record<string, unknown>> };
}

/** The name that a reference ends with. */
function nameIn(reference: { readonly $ref: string } | undefined): string {
  return reference?.$ref.replace(/.*\//, "") ?? "";
}
