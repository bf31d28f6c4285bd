/**
 * The MCP server, asked by the official client over stdio: its tools are the RPCs, its answers the bytes of REST, and
 * what goes wrong is told.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { ROOT } from "../../docs/markdown.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { runProgram } from "../../support/commands/run-command.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** Where a user has installed the package. */
const project = mkdtempSync(join(tmpdir(), "revenue-mcp-"));
const modules = join(project, "node_modules");
const program = join(modules, "revenue-service-mcp/dist/clients/mcp/src/main.js");

let fixture: Fixture;
beforeAll(async () => {
  const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", project], {
    cwd: join(ROOT, "clients/mcp"),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf("[")));
  mkdirSync(modules);
  execFileSync("tar", ["-xzf", join(project, filename), "-C", modules]);
  execFileSync("mv", [join(modules, "package"), join(modules, "revenue-service-mcp")]);
  for (const name of ["@modelcontextprotocol", "zod"]) {
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  // As npm does with a `bin`.
  chmodSync(program, 0o755);
  fixture = await createFixture(smallLedger);
});
afterAll(async () => {
  await fixture?.dispose();
  rmSync(project, { recursive: true, force: true });
});

interface Settings {
  readonly url?: string;
  readonly key?: string;
}

const environmentOf = ({ url = fixture.service.http, key = fixture.key }: Settings) => ({
  PATH: process.env.PATH ?? "",
  REVENUE_URL: url,
  REVENUE_API_KEY: key,
});

/** The official client, connected to a process of the server. */
async function connect(settings: Settings = {}): Promise<Client> {
  const client = new Client({ name: "test", version: "0.0.0" });
  const env = environmentOf(settings);
  await client.connect(new StdioClientTransport({ command: program, env, stderr: "inherit" }));
  onTestFinished(() => client.close());
  return client;
}

/** The result of a tool whose content is one text. */
async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { content, isError = false } = await client.callTool({ name, arguments: args });
  const [first, ...others] = content;
  if (first?.type !== "text" || others.length > 0) throw new Error("the content is not one text");
  return { text: first.text, isError };
}

/** A server of HTTP that is not the service. Resolves to its address. */
async function other(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it("has a tool for each RPC, which only reads, and says what each field means", async () => {
  const client = await connect();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(
    RevenueService.methods.map(({ localName }) => localName).sort(),
  );
  for (const { name, annotations, inputSchema, description } of tools) {
    expect(annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
    const { input, output } = RevenueService.methods.find((one) => one.localName === name) ?? {};
    expect(Object.keys(inputSchema.properties ?? {})).toEqual(
      input?.fields.map(({ jsonName }) => jsonName),
    );
    for (const { jsonName } of output?.fields ?? []) {
      expect(description).toMatch(new RegExp(`^- ${jsonName}(\\[\\])?: \\w`, "m"));
    }
  }
  expect(client.getInstructions()).toContain("Amounts are in US dollars");
});

const PERIOD = { startDate: "2024-03-01", endDate: "2024-04-30" };

it("returns the very text of REST for each RPC, whose amounts keep their digits", async () => {
  const client = await connect();
  const texts = [];
  for (const { path, tool } of await paths()) {
    const query = tool === "getOverview" ? {} : PERIOD;
    const target = `${path}?${new URLSearchParams(query)}`;
    const { text } = await rawHttp(fixture.service.http, { target, headers: withKey(fixture.key) });
    expect(await call(client, tool, query), tool).toEqual({ text, isError: false });
    texts.push(text);
  }
  // JSON.parse would make 4500.05, 1250.5 and 4000 of them.
  for (const digits of ["4500.05", "1250.50", "4000.00"]) expect(texts.join()).toContain(digits);
});

/** The path of each tool. */
async function paths(): Promise<{ path: string; tool: string }[]> {
  const { text } = await rawHttp(fixture.service.http, { target: "/openapi.json" });
  return Object.entries<{ get: { operationId: string } }>(JSON.parse(text).paths).map(
    ([path, { get }]) => ({ path, tool: get.operationId }),
  );
}

describe("what goes wrong is a tool error that says what", () => {
  it.each<[string, Record<string, unknown>, RegExp]>([
    ["a date", { startDate: "March" }, /^400 startDate: .*"March".* \(request [\w-]{36}\)$/],
    ["an unknown argument", { from: "2024-03-01" }, /^400 .*from/],
    ["an argument of another type", { timeZone: ["UTC"] }, /^400 timeZone: expected .*UTC/],
    ["the order", { startDate: "2024-04-01", endDate: "2024-03-01" }, /^400 .*startDate/],
  ])("%s", async (_, args, text) => {
    const client = await connect();
    expect(await call(client, "getServerBreakdown", args)).toEqual({
      text: expect.stringMatching(text),
      isError: true,
    });
  });

  const unknown = `rvk_${"0".repeat(49)}`;
  it.each<[string, Settings | RequestListener, RegExp]>([
    ["a key that is unknown", { key: unknown }, /^401 API key authentication is required/],
    ["no service", { url: "http://127.0.0.1:1" }, /^the service cannot be reached at http:\/\/127/],
    ["a page of another server", (_, answer) => answer.end("<html>"), /^200 without JSON: is http/],
    [
      "a redirect, which is not followed",
      (_, answer) => answer.writeHead(302, { location: "/" }).end(),
      /^302 without JSON/,
    ],
    [
      "an overload, with the time to wait",
      (_, answer) =>
        answer
          .writeHead(503, { "content-type": "application/json", "retry-after": "2" })
          .end('{"error":"Service Unavailable","message":"busy"}'),
      /^503 busy; try again in 2 s/,
    ],
    [
      "a fault, which has one field",
      (_, answer) =>
        answer.writeHead(500, { "content-type": "application/json" }).end('{"error":"a fault"}'),
      /^500 a fault/,
    ],
  ])("%s", async (_, where, text) => {
    const settings = typeof where === "function" ? { url: await other(where) } : where;
    const client = await connect(settings);
    expect(await call(client, "getOverview")).toEqual({
      text: expect.stringMatching(text),
      isError: true,
    });
  });
});

it("a call that is cancelled is cancelled at the service", async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const cancel = new AbortController();
  const url = await other((request) => {
    request.socket.once("close", resolve);
    cancel.abort();
  });
  const client = await connect({ url });
  const called = client.callTool({ name: "getOverview" }, { signal: cancel.signal });
  await expect(called).rejects.toThrow();
  await closed;
});

it("bad configuration is told at once, all of it, and without what may be a key", async () => {
  const start = (settings: Settings) => runProgram(program, [], { env: environmentOf(settings) });
  const url = "expected one like https://revenue.example.com\n";
  const key = "expected a provider's: rvk_ and 49 letters and digits\n";
  const service = await fixture.issueServiceKey("mcp");
  expect(
    await Promise.all([
      start({ url: "", key: "" }),
      start({ url: fixture.key, key: "http://revenue" }),
      start({ url: "http://me:secret@revenue", key: service }),
    ]),
  ).toEqual(
    [
      `REVENUE_URL is not set; ${url}REVENUE_API_KEY is not set; ${key}`,
      `REVENUE_URL is no address of HTTP; ${url}REVENUE_API_KEY is no API key; ${key}`,
      `REVENUE_URL is no address of HTTP; ${url}REVENUE_API_KEY is a service key; ${key}`,
    ].map((stderr) => ({ code: 1, stdout: "", stderr })),
  );
});

it("ends when the client has gone", async () => {
  const { code, stderr } = await runProgram("sh", ["-c", `"${program}" < /dev/null`], {
    env: environmentOf({}),
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});
