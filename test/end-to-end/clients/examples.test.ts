/**
 * The programs that users copy, and the TypeScript client and the MCP server as npm publishes them: built, packed and
 * installed elsewhere. Those in Go, and in Python over gRPC, are run by hand: they need modules from the network.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { blocksOf, ROOT, rootFile } from "../../docs/markdown.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { runProgram } from "../../support/commands/run-command.ts";
import { METHODS, paths, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
let serviceKey: string;
beforeAll(async () => {
  fixture = await createFixture(async (database) => {
    await smallLedger(database);
    // In the last 30 days.
    await database.knex("charges").insert({
      provider_id: 1,
      server_id: 1,
      gross: "12.30",
      charged_at: database.knex.raw("UTC_TIMESTAMP(3)"),
    });
  });
  serviceKey = await fixture.issueServiceKey("examples");
});
afterAll(() => fixture?.dispose());

interface Settings {
  readonly key?: string | undefined;
  readonly url?: string;
  readonly cwd?: string;
}

/** Runs a program with the variables that all examples read. */
function run(
  command: string,
  args: readonly string[] = [],
  { key = fixture.key, url = fixture.service.http, cwd = ROOT }: Settings = {},
) {
  const env = {
    ...process.env,
    REVENUE_URL: url,
    REVENUE_GRPC: fixture.service.grpc,
    REVENUE_API_KEY: key === "" ? undefined : key,
    REVENUE_SERVICE_KEY: serviceKey,
    LC_ALL: "C",
    PYTHONIOENCODING: "utf-8",
  };
  return runProgram(command, args, { cwd, env });
}

/** What the programs over gRPC print. */
const OVER_GRPC = `earnings this year: 11.07
balance: 1250.50
         12.30  alpha
         12.30  in all
`;

/**
 * Installs a client of this repository in a project, with what else it needs from here.
 *
 * @param client its folder in `clients/`
 * @param packages names, or scopes, of the others
 * @returns its folder
 */
function installClient(project: string, client: string, packages: readonly string[]): string {
  const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", project], {
    cwd: join(ROOT, "clients", client),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ filename, name }] = JSON.parse(packed.slice(packed.indexOf("[")));
  const modules = join(project, "node_modules");
  const folder = join(modules, name);
  mkdirSync(folder, { recursive: true });
  const archive = join(project, filename);
  execFileSync("tar", ["-xzf", archive, "-C", folder, "--strip-components", "1"]);
  for (const other of packages)
    symlinkSync(join(ROOT, "node_modules", other), join(modules, other));
  return folder;
}

describe("curl", () => {
  it("prints the summary and the servers as CSV, also of an address that ends with a slash", async () => {
    const url = `${fixture.service.http}/`;
    const { code, stdout, stderr } = await run("examples/curl/revenue.sh", [], { url });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [summary = "", header = ""] = stdout.split(/\r?\n/);
    const headers = withKey(fixture.key);
    const { text } = await rawHttp(url, { target: "/api/provider/revenue", headers });
    expect(text).toContain(summary);
    expect(header).toMatch(/^serverId,serverName,/);
  });

  it("prints the message of an error", async () => {
    const { code, stdout, stderr } = await run("examples/curl/revenue.sh", [], {
      key: "rvk_wrong",
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain('"message":"API key authentication is required');
  });
});

describe.skipIf(spawnSync("python3", ["--version"]).status !== 0)("Python", () => {
  const python = (settings?: Settings) => run("python3", ["examples/python/revenue.py"], settings);

  it("prints the digits of the ledger and their sum, also of an address that ends with a slash", async () => {
    const { code, stdout, stderr } = await python({ url: `${fixture.service.http}/` });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("earnings this year: 11.07\nbalance: 1250.50\n");
    expect(stdout).toMatch(/\n {9}11\.07 {2}[\d-]+\n/);
    expect(stdout).toContain("\n         12.30  alpha\n         12.30  in all\n");
  });

  it("prints the message of an error and the request's id, or which variable is missing", async () => {
    const [refused, unset] = await Promise.all(["rvk_wrong", ""].map((key) => python({ key })));
    expect(refused?.code).toBe(1);
    const message = /^401 API key authentication is required.* \(request [0-9a-f-]{36}\)\n$/;
    expect(refused?.stderr).toMatch(message);
    expect(unset?.stderr).toBe("set the environment variable REVENUE_API_KEY\n");
  });

  it("tries again what a proxy answers or the service asks for, four times in all, and follows no redirect with the key", async () => {
    const busy = (response: ServerResponse) => {
      response.writeHead(503, { "retry-after": "0", "x-request-id": "r-1" });
      response.end('{"error":"Service Unavailable","message":"busy"}');
    };
    const [unserved, redirected] = await Promise.all([
      against([busy, busy, busy, busy]),
      against([
        (response) => response.end("<html>log in</html>"),
        (response) => response.writeHead(502, { "retry-after": "0" }).end("<html>Bad Gateway"),
        (response) => response.writeHead(302, { location: "/elsewhere" }).end(),
      ]),
    ]);
    expect(unserved).toEqual({ left: 0, stderr: "503 busy (request r-1)\n" });
    expect(redirected).toEqual({ left: 0, stderr: "302 Found (request None)\n" });
  });

  /** Runs the program against a server with these answers: how many it has not asked for, and what it prints. */
  async function against(answers: ((response: ServerResponse) => void)[]) {
    const server = createServer((_, response) => {
      const answer = answers.shift() ?? ((response) => response.writeHead(418).end());
      answer(response);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { stderr } = await python({ url: `http://127.0.0.1:${port}` });
    return { left: answers.length, stderr };
  }
});

describe("TypeScript, with the client packed and installed", () => {
  /** A project of a user, with the programs of examples/typescript. */
  const project = mkdtempSync(join(tmpdir(), "revenue-client-"));
  let installed: string;
  const node = (args: string[], settings?: Settings) =>
    run(process.execPath, args, { ...settings, cwd: project });

  beforeAll(() => {
    const packages = ["@bufbuild", "@connectrpc", "@grpc", "@types", "undici-types"];
    installed = installClient(project, "typescript", packages);
    // Its modules are CommonJS: what is copied there says by itself that it is not.
    execFileSync("npm", ["init", "--yes"], { cwd: project });
    cpSync(join(ROOT, "examples/typescript"), project, { recursive: true });
  });
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  it("names its types also for a moduleResolution that knows no exports", () => {
    const manifest = rootFile("clients/typescript/package.json");
    const { main, types, exports } = JSON.parse(manifest);
    expect({ default: main, types }).toEqual(exports["."]);
    for (const path of [main, types]) expect(existsSync(join(installed, path)), path).toBe(true);
  });

  it("its README's example compiles and prints the ledger's digits", async () => {
    const [example = "", handling = ""] = blocksOf(rootFile("clients/typescript/README.md"))
      .filter(({ language }) => language === "ts")
      .map(({ text }) => text.replace("https://revenue.example.com", fixture.service.http));
    writeFileSync(join(project, "example.mts"), example);
    writeFileSync(
      join(project, "errors.mts"),
      `import { createRevenueClient } from "revenue-service-client";\n` +
        `const client = createRevenueClient({ baseUrl: "http://127.0.0.1:1", apiKey: "k" });\n${handling}`,
    );
    const flags =
      "--noEmit --strict --module nodenext --target es2022 --types node --lib es2022,dom";
    const tsc = join(ROOT, "node_modules/.bin/tsc");
    execFileSync(tsc, [...flags.split(" "), "example.mts", "errors.mts"], { cwd: project });
    const { stdout } = await node(["example.mts"]);
    expect(stdout.split("\n").slice(0, 2)).toEqual(["balance 1250.50", "alpha 4061.11"]);
    expect(stdout).toMatch(/\npo-1 4000\.00\nalpha 12\.30\n$/);
  });

  it("the programs print the digits of the ledger, the message of an error, and its request id if it has one", async () => {
    const [overGrpc, refused, overHttp, unreachable] = await Promise.all([
      node(["revenue-grpc.mts"]),
      node(["revenue-grpc.mts"], { key: "rvk_wrong" }),
      node(["revenue.mts"]),
      node(["revenue.mts"], { url: "http://127.0.0.1:1" }),
    ]);
    expect(overGrpc).toEqual({ code: 0, stdout: OVER_GRPC, stderr: "" });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    const message = /^API key authentication is required.* \(request [\w-]{36}\)\n$/;
    expect(refused.stderr).toMatch(message);
    expect(overHttp.stdout).toMatch(
      /^earnings this year: 11\.07\nbalance: 1250\.50\n.* 11\.07 {2}[\d-]+\n.* 12\.30 {2}alpha\n/s,
    );
    const stderr = "the service cannot be reached\n";
    expect(unreachable).toEqual({ code: 1, stdout: "", stderr });
  });

  it("with a service key they look up any provider and export a list of them, and say who does not exist", async () => {
    const list = "printf '1\\n\\n3\\n2\\n' | node export.mts 2024-01-01 2024-12-31";
    const [found, none, exported] = await Promise.all([
      ...["1", "3"].map((id) => node(["support.mts", id])),
      run("sh", ["-c", list.replace("node", process.execPath)], { cwd: project }),
    ]);
    expect(found?.stdout).toContain("balance: 1250.50\n       4061.11  alpha\n");
    expect(none).toMatchObject({ code: 1, stdout: "" });
    const message = "there is no provider with the id in the header x-provider-id";
    expect(none?.stderr).toMatch(new RegExp(`^${message} \\(request [\\w-]{36}\\)\n$`));
    expect(exported?.stdout.trim().split("\n").sort()).toEqual([
      "1,4500.05,1",
      "2,0.00,0",
      "provider,totalRevenue,totalRentals",
    ]);
    expect(exported).toMatchObject({ code: 1, stderr: `3: ${message}\n` });
  });

  it("with a service key one writes all providers to a file, and goes on where a run was stopped", async () => {
    const [startDate, endDate] = ["2024-01-01", "2024-12-31"];
    const whole = join(project, "whole.csv");
    const nightly = (file: string) => node(["nightly.mts", startDate, endDate, file]);
    expect(await nightly(whole)).toEqual({ code: 0, stdout: "", stderr: "" });
    const text = readFileSync(whole, "utf8");
    const [header = "", first = "", ...rest] = text.split("\r\n");
    expect(header).toMatch(/^providerId,name,grossRevenue,/);
    expect(first).toBe('1,"first",4500.05,0.00,450.01,4050.04,4000.00,0.00,1250.50');
    expect(rest).toEqual(['2,"second",0.00,0.00,0.00,0.00,0.00,0.00,0.00', ""]);

    // As a run leaves it that was killed in the second page.
    const page = await fixture.clients.get("gRPC, grpc-js").call({
      method: "ListProviderRevenue",
      message: { startDate, endDate, pageSize: 1 },
      headers: withKey(serviceKey),
    });
    const bytes = `${header}\r\n${first}\r\n`.length;
    const pageToken = page.headers["next-page-token"];
    const stopped = join(project, "stopped.csv");
    writeFileSync(`${stopped}.part`, `${text.slice(0, bytes)}2,"sec`);
    writeFileSync(`${stopped}.next`, JSON.stringify({ pageToken, bytes }));
    expect(await nightly(stopped)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(readFileSync(stopped, "utf8")).toBe(text);
    const left = readdirSync(project).filter((name) => /\.(part|next)$/.test(name));
    expect(left).toEqual([]);
  });

  it("they take an answer of more than 4 MiB, which a gRPC client with default options refuses by itself", async () => {
    const { knex } = fixture.database;
    await knex("providers").insert({ id: 3, name: "large" });
    const server = { provider_id: 3, type: "", status: "Active", price_per_hour: "1" };
    const name = "\u{1f5a5}".repeat(255);
    const numbers = Array.from({ length: 4_500 }, (_, index) => index + 1_000);
    const servers = numbers.map((id) => ({
      ...server,
      id,
      name,
      uuid: `00000000-0000-4000-8000-00000000${id}`,
      created_at: "2024-01-01 00:00:00.000",
    }));
    await knex.batchInsert("servers", servers, 1_000);
    const key = await fixture.issueKey("3");
    const refused = await fixture.clients
      .get("gRPC, grpc-js")
      .call({ method: "GetServerBreakdown", headers: withKey(key) });
    expect(refused).toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      message: expect.stringContaining("larger than max"),
    });
    for (const header of ["retry-after", "grpc-status-details-bin"])
      expect(refused.headers).not.toHaveProperty(header);
    const count = `${process.execPath} revenue-grpc.mts | grep -c ${name}`;
    const taken = await run("sh", ["-c", count], { key, cwd: project });
    expect(taken).toEqual({ code: 0, stdout: `${numbers.length}\n`, stderr: "" });
  });
});

/** Asked by the official client over stdio. What it tells of what goes wrong: test/unit/clients/mcp.test.ts. */
describe("the MCP server", () => {
  const project = mkdtempSync(join(tmpdir(), "revenue-mcp-"));
  const client = new Client({ name: "test", version: "0.0.0" });
  let program: string;
  beforeAll(async () => {
    const installed = installClient(project, "mcp", ["@modelcontextprotocol", "zod"]);
    program = join(installed, "dist/clients/mcp/src/main.js");
    // As npm does with a `bin`.
    chmodSync(program, 0o755);
    const env = { REVENUE_URL: fixture.service.http, REVENUE_API_KEY: fixture.key };
    await client.connect(new StdioClientTransport({ command: program, env, stderr: "inherit" }));
  });
  afterAll(async () => {
    await client.close();
    rmSync(project, { recursive: true, force: true });
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
      const { text } = await rawHttp(fixture.service.http, {
        target,
        headers: withKey(fixture.key),
      });
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
    const [bad, gone] = await Promise.all([
      run(program, [], { url: "" }),
      run("sh", ["-c", `"${program}" < /dev/null`]),
    ]);
    const stderr = "REVENUE_URL is not set; expected one like https://revenue.example.com\n";
    expect(bad).toEqual({ code: 1, stdout: "", stderr });
    expect(gone).toMatchObject({ code: 0, stderr: "" });
  });
});
