/**
 * The MCP server, asked by the official client over stdio: its tools are the RPCs, and its answers the bytes of REST.
 * What it tells of what goes wrong: test/unit/clients/mcp.test.ts.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, expect, it } from "vitest";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { runProgram } from "../../support/commands/run-command.ts";
import { METHODS, paths, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { installClient } from "./installed.ts";

/** Where a user has installed the package. */
const project = mkdtempSync(join(tmpdir(), "revenue-mcp-"));
let program: string;

let fixture: Fixture;
/** The official client, connected to a process of the server. */
const client = new Client({ name: "test", version: "0.0.0" });
beforeAll(async () => {
  const installed = installClient(project, "mcp", ["@modelcontextprotocol", "zod"]);
  program = join(installed, "dist/clients/mcp/src/main.js");
  // As npm does with a `bin`.
  chmodSync(program, 0o755);
  fixture = await createFixture(smallLedger);
  const env = environmentOf(fixture.service.http, fixture.key);
  await client.connect(new StdioClientTransport({ command: program, env, stderr: "inherit" }));
});
afterAll(async () => {
  await client.close();
  await fixture?.dispose();
  rmSync(project, { recursive: true, force: true });
});

const environmentOf = (url: string, key: string) => ({
  PATH: process.env.PATH ?? "",
  REVENUE_URL: url,
  REVENUE_API_KEY: key,
});

/** The result of a tool whose content is one text. */
async function call(name: string, args: Record<string, unknown> = {}) {
  const { content, isError = false } = await client.callTool({ name, arguments: args });
  const [first, ...others] = content;
  if (first?.type !== "text" || others.length > 0) throw new Error("the content is not one text");
  return { text: first.text, isError };
}

it("has a tool for each RPC, which only reads, and says what each field means", async () => {
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

it("returns the very text of REST for each RPC, whose amounts keep their digits", async () => {
  const texts = [];
  for (const method of METHODS) {
    const query = { startDate: "2024-03-01", endDate: "2024-04-30" };
    const args = method === "GetOverview" ? {} : query;
    const target = `${paths[method]}?${new URLSearchParams(args)}`;
    const { text } = await rawHttp(fixture.service.http, { target, headers: withKey(fixture.key) });
    const tool = method[0]?.toLowerCase() + method.slice(1);
    expect(await call(tool, args), tool).toEqual({ text, isError: false });
    texts.push(text);
  }
  // JSON.parse would make 4500.05, 1250.5 and 4000 of them.
  for (const digits of ["4500.05", "1250.50", "4000.00"]) expect(texts.join()).toContain(digits);
});

it("what is wrong is a tool error in the words of the service", async () => {
  expect(await call("getServerBreakdown", { timeZone: ["UTC"] })).toEqual({
    text: expect.stringMatching(/^400 timeZone: expected .*UTC.* \(request [\w-]{36}\)$/),
    isError: true,
  });
});

it("bad configuration is told at once, and it ends when the client has gone", async () => {
  const run = (command: string, args: string[], url: string) =>
    runProgram(command, args, { env: environmentOf(url, fixture.key) });
  const [bad, gone] = await Promise.all([
    run(program, [], ""),
    run("sh", ["-c", `"${program}" < /dev/null`], fixture.service.http),
  ]);
  const stderr = "REVENUE_URL is not set; expected one like https://revenue.example.com\n";
  expect(bad).toEqual({ code: 1, stdout: "", stderr });
  expect(gone).toMatchObject({ code: 0, stderr: "" });
});
