/** What the MCP server makes of the contract, and what it tells of what goes wrong. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createTools, MAX_DESCRIPTION } from "../../../clients/mcp/src/contract.ts";
import { ask, readConfiguration } from "../../../clients/mcp/src/service.ts";

const charges = createTools().find(({ name }) => name === "listCharges");

it("a tool has the parameters of its RPC without their patterns, and the fields of its response", () => {
  expect(Object.keys(charges?.inputSchema.properties?.startDate ?? {}).sort()).toEqual([
    "description",
    "examples",
    "type",
  ]);
  expect(charges?.description).toMatch(/\n- charges\[\]\.amount: \w/);
});

it("no description is longer than hosts take", () => {
  for (const { name, description } of createTools()) {
    expect(description.length, name).toBeLessThanOrEqual(MAX_DESCRIPTION);
  }
});

it.each([
  [
    { startDate: "2026-11-01T00:00:00+01:00", pageSize: 7, endDate: null, other: { a: 1 } },
    "?startDate=2026-11-01T00%3A00%3A00%2B01%3A00&pageSize=7&other=%7B%22a%22%3A1%7D",
  ],
  [{}, ""],
])("%j is asked for as %s", (args, query) => {
  expect(charges?.target(args)).toBe(`/api/provider/revenue/charges${query}`);
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
])(
  "of the address '%s' and the key '%s' is told what is wrong, and not what may be a key",
  (url, key, ofUrl, ofKey) => {
    const mistakes = [
      ofUrl && `REVENUE_URL ${ofUrl}; expected one like https://revenue.example.com`,
      ofKey && `REVENUE_API_KEY ${ofKey}; expected a provider's: rvk_ and 49 letters and digits`,
    ];
    const configuration = readConfiguration({ REVENUE_URL: url, REVENUE_API_KEY: key });
    expect(configuration).toEqual(mistakes.filter(Boolean));
    const right = { REVENUE_URL: "https://revenue/x//", REVENUE_API_KEY: KEY };
    expect(readConfiguration(right)).toEqual({ url: "https://revenue/x", key: KEY });
  },
);
