/** How the MCP server reads a contract with what this one does not have yet, and what it tells of what goes wrong. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createTools, type Document } from "../../../clients/mcp/src/contract.ts";
import { ask, readConfiguration } from "../../../clients/mcp/src/service.ts";

const parameter = (name: string, where: string, more = {}) => ({
  name,
  in: where,
  description: `The ${name}.`,
  schema: { type: "string", pattern: "^x" },
  ...more,
});

const contract: Document = {
  info: { version: "1.0.0", description: "" },
  paths: {
    "/servers/{server_id}/charges": {
      parameters: [
        parameter("server_id", "path", { required: true }),
        parameter("from", "query", { examples: { day: { value: "2026-11-01" } } }),
        parameter("if-none-match", "header"),
      ],
      get: {
        operationId: "listCharges",
        summary: "Lists charges",
        description: "Lists charges of a server.",
        responses: {
          200: {
            content: { "application/json": { schema: { $ref: "#/components/schemas/List" } } },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      List: {
        properties: {
          charges: {
            type: "array",
            items: { $ref: "#/components/schemas/Charge" },
            description: "Charges.",
          },
          total: { type: "number" },
        },
      },
      Charge: { properties: { amount: { type: "number", description: "USD." } } },
    },
  },
};

const [tool] = createTools(contract);

it("a parameter of the path is required, one of a header is none, and no pattern is shown", () => {
  expect(tool).toMatchObject({ name: "listCharges", title: "Lists charges" });
  expect(tool?.inputSchema).toEqual({
    type: "object",
    properties: {
      server_id: { type: "string", description: "The server_id." },
      from: { type: "string", description: "The from.", examples: ["2026-11-01"] },
    },
    required: ["server_id"],
    additionalProperties: false,
  });
});

it("fields are described as deep as they are", () => {
  expect(tool?.description).toBe(
    "Lists charges of a server.\n\nFields of the JSON:\n- charges[]: Charges.\n- charges[].amount: USD.\n- total: ",
  );
});

it.each([
  [
    { server_id: "a/b", from: "2026-11-01T00:00:00+01:00" },
    "/servers/a%2Fb/charges?from=2026-11-01T00%3A00%3A00%2B01%3A00",
  ],
  [{ server_id: 7, from: null, other: { a: 1 } }, "/servers/7/charges?other=%7B%22a%22%3A1%7D"],
  [{}, "/servers//charges"],
])("%j is asked for as %s", (args, target) => {
  expect(tool?.target(args)).toBe(target);
});

const KEY = `rvk_${"0".repeat(49)}`;

/** A server of HTTP, and what it is asked. */
async function serve(answer: (response: ServerResponse) => unknown) {
  const server = createServer((_, response) => void answer(response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };

it.each<[string, number, Record<string, string>, string, string]>([
  ["a page of another server", 200, {}, "<html>", "200 without JSON: is URL the revenue service?"],
  ["a redirect, which is not followed", 302, { location: "/" }, "", "302 without JSON"],
  [
    "an overload, with the time to wait",
    503,
    { ...JSON_TYPE, "retry-after": "2", "x-request-id": "r-7" },
    '{"error":"Service Unavailable","message":"busy"}',
    "503 busy; try again in 2 s (request r-7)",
  ],
  ["a fault, which has one field", 500, JSON_TYPE, '{"error":"a fault"}', "500 a fault"],
])("%s is told", async (_, status, headers, body, message) => {
  const { url } = await serve((response) => response.writeHead(status, headers).end(body));
  const asked = ask({ url, key: KEY }, "/", AbortSignal.any([]));
  await expect(asked).rejects.toThrow(message.replace("URL", url));
});

it("an answer is its very text, no service is told, and a call that is cancelled is cancelled at the service", async () => {
  const { url } = await serve((response) => response.writeHead(200, JSON_TYPE).end('{"a":2.50}'));
  expect(await ask({ url, key: KEY }, "/", AbortSignal.any([]))).toBe('{"a":2.50}');
  const nobody = ask({ url: "http://127.0.0.1:1", key: KEY }, "/", AbortSignal.any([]));
  await expect(nobody).rejects.toThrow("the service cannot be reached at http://127.0.0.1:1: ");
  const cancel = new AbortController();
  const silent = await serve(() => cancel.abort());
  const closed = once(silent.server, "connection").then(([socket]) => once(socket, "close"));
  await expect(ask({ url: silent.url, key: KEY }, "/", cancel.signal)).rejects.toThrow("aborted");
  await closed;
});

it.each([
  ["", "", "is not set", "is not set"],
  [KEY, "http://revenue", "is no address of HTTP", "is no API key"],
  ["http://me@revenue", `rvs_${"0".repeat(49)}`, "is no address of HTTP", "is a service key"],
  ["http://revenue?", `${KEY}0`, "", "is no API key"],
  ["http://revenue#x", KEY, "is no address of HTTP", ""],
])(
  "of the address '%s' and the key '%s' is told what is wrong, and not what may be a key",
  (url, key, ofUrl, ofKey) => {
    const mistakes = [
      ofUrl && `REVENUE_URL ${ofUrl}; expected one like https://revenue.example.com`,
      ofKey && `REVENUE_API_KEY ${ofKey}; expected a provider's: rvk_ and 49 letters and digits`,
    ];
    const configuration = readConfiguration({ REVENUE_URL: url, REVENUE_API_KEY: key });
    expect(configuration).toEqual(mistakes.filter(Boolean));
  },
);

it("an address may end with a slash", () => {
  const read = readConfiguration({ REVENUE_URL: "https://revenue/x//", REVENUE_API_KEY: KEY });
  expect(read).toEqual({ url: "https://revenue/x", key: KEY });
});
