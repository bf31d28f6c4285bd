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
import { createGateway, type Gateway } from "../../src/gateway/server.ts";
import { bindRoutes } from "../../src/gateway/transcoding/routes.ts";
import { createAddresses } from "../../src/net/address.ts";
import { createRevenueService } from "../../src/revenue/service.ts";
import { createRpc } from "../../src/rpc/pipeline.ts";
import { isForPlatform, METHODS, servicesOn } from "../../src/services.ts";
import { findAnyProvider, providerKey, serviceKey } from "../support/caller-key.ts";
import { parseNumbers } from "../support/clients/exact-json.ts";
import { rawHttp } from "../support/clients/raw-http.ts";
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

/** The RPCs that only a port which accepts service keys has. */
const PLATFORM_RPCS = PlatformRevenueService.methods.map(({ name }) => name);

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

const { paths } = JSON.parse(text);

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
  const { text: body } = await rawHttp(url, { target: "/api/provider/revenue" });
  const { pricePerHour, totalEarnings } = exact(body).serverRevenue[0];
  expect(body).toContain(`"pricePerHour":${pricePerHour},"totalEarnings":${totalEarnings},`);
  expect(exact('{"a":[4500.00,"4500.00",2,true,null]}')).toEqual({
    a: ["4500.00", "4500.00", "2", true, null],
  });
});

it("the document of a port that accepts service keys has the other one, and names x-provider-id", () => {
  const platform = bindRoutes([PlatformRevenueService]).map(({ path }) => path);
  const { paths: all } = JSON.parse(textOfServiceKeys);
  expect(Object.keys(all)).toEqual([...Object.keys(paths), ...platform]);
  for (const path of Object.keys(paths)) {
    const names = all[path].parameters.map(({ name }: { name: string }) => name);
    expect(names).toContain("x-provider-id");
  }
  expect(text).not.toContain("x-provider-id");
});
