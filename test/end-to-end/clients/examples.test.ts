/**
 * The programs that users copy, and the TypeScript client as npm publishes it: built, packed and
 * installed elsewhere. An example is run by hand where its tool is missing: Go needs modules from
 * the network.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Code, createRevenueClient } from "../../../clients/typescript/src/index.ts";
import { blocksOf, ROOT, rootFile } from "../../docs/markdown.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { runProgram } from "../../support/commands/run-command.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
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
});
afterAll(() => fixture?.dispose());

interface Settings {
  readonly key?: string | undefined;
  readonly url?: string;
  readonly cwd?: string;
}

/** Python with what examples/README.md says to install for gRPC: PYTHON, or that of the machine. */
const PYTHON = process.env.PYTHON ?? "python3";
const hasGrpc = () =>
  spawnSync(PYTHON, ["-c", "import grpc_tools, google.type.decimal_pb2"]).status === 0;

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
    const { code, stderr } = await python({ key: "rvk_wrong" });
    expect(code).toBe(1);
    const message = /^401 API key authentication is required.* \(request [0-9a-f-]{36}\)\n$/;
    expect(stderr).toMatch(message);
    expect(await python({ key: "" })).toMatchObject({
      code: 1,
      stderr: "set the environment variable REVENUE_API_KEY\n",
    });
  });

  it("tries again when the service asks for it, four times in all", async () => {
    let requests = 0;
    const busy = createServer((_, response) => {
      requests++;
      response.writeHead(503, { "retry-after": "0", "x-request-id": "r-1" });
      response.end('{"error":"Service Unavailable","message":"busy"}');
    });
    await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void busy.close());
    const { port } = busy.address() as AddressInfo;
    const { stderr } = await python({ url: `http://127.0.0.1:${port}` });
    expect({ requests, stderr }).toEqual({ requests: 4, stderr: "503 busy (request r-1)\n" });
  });

  it.each<[string, (response: ServerResponse) => void, number, RegExp]>([
    [
      "a proxy's page in an outage is retried",
      (response) => response.writeHead(502, { "retry-after": "0" }).end("<html>Bad Gateway</html>"),
      4,
      /^502 Bad Gateway \(request None\)\n$/,
    ],
    [
      "an answer that is no JSON is retried",
      (response) => response.end("<html>log in</html>"),
      4,
      /^the service cannot be reached: Expecting value/,
    ],
    [
      "a redirect is not followed, with the key",
      (response) => response.writeHead(302, { location: "/elsewhere" }).end(),
      1,
      /^302 Found \(request None\)\n$/,
    ],
  ])("%s", async (_, answer, times, stderr) => {
    let requests = 0;
    const other = createServer((_request, response) => {
      requests++;
      answer(response);
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const ended = await python({ url: `http://127.0.0.1:${port}` });
    expect(ended.stderr).toMatch(stderr);
    expect(requests).toBe(times);
  });
});

describe("the TypeScript client, packed and installed", () => {
  /** A project of a user. */
  const project = mkdtempSync(join(tmpdir(), "revenue-client-"));
  const node = (file: string, settings?: Settings) =>
    run(process.execPath, [file], { ...settings, cwd: project });

  beforeAll(() => {
    const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", project], {
      cwd: join(ROOT, "clients/typescript"),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [{ filename }] = JSON.parse(packed.slice(packed.indexOf("[")));
    const modules = join(project, "node_modules");
    mkdirSync(modules);
    execFileSync("tar", ["-xzf", join(project, filename), "-C", modules]);
    execFileSync("mv", [join(modules, "package"), join(modules, "revenue-service-client")]);
    for (const scope of ["@bufbuild", "@connectrpc", "@grpc", "@types", "undici-types"]) {
      symlinkSync(join(ROOT, "node_modules", scope), join(modules, scope));
    }
    // Its modules are CommonJS: what is copied there says by itself that it is not.
    execFileSync("npm", ["init", "--yes"], { cwd: project });
  });
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  it("names its types also for a moduleResolution that knows no exports", () => {
    const manifest = rootFile("clients/typescript/package.json");
    const { main, types, exports } = JSON.parse(manifest);
    expect({ default: main, types }).toEqual(exports["."]);
    const installed = join(project, "node_modules/revenue-service-client");
    for (const path of [main, types]) expect(existsSync(join(installed, path)), path).toBe(true);
  });

  it("its README's example compiles and prints the ledger's digits", async () => {
    const [example = "", handling = ""] = blocksOf(rootFile("clients/typescript/README.md"))
      .filter(({ language }) => language === "ts")
      .map(({ text }) => text);
    writeFileSync(
      join(project, "example.mts"),
      example.replace("https://revenue.example.com", fixture.service.http),
    );
    writeFileSync(
      join(project, "errors.mts"),
      `import { createRevenueClient } from "revenue-service-client";\n` +
        `const client = createRevenueClient({ baseUrl: "http://127.0.0.1:1", apiKey: "k" });\n${handling}`,
    );
    const flags =
      "--noEmit --strict --module nodenext --target es2022 --types node --lib es2022,dom";
    const tsc = join(ROOT, "node_modules/.bin/tsc");
    execFileSync(tsc, [...flags.split(" "), "example.mts", "errors.mts"], { cwd: project });
    const { stdout } = await node("example.mts");
    expect(stdout.split("\n").slice(0, 2)).toEqual(["balance 1250.50", "alpha 4061.11"]);
    expect(stdout).toMatch(/\npo-1 4000\.00\nalpha 12\.30\n$/);
  });

  const copy = (name: string) =>
    writeFileSync(join(project, name), rootFile(`examples/typescript/${name}`));

  it("runs the program over gRPC, which prints the request id of an error", async () => {
    for (const name of ["grpc.mts", "revenue-grpc.mts"]) copy(name);
    const [served, refused, unset] = await Promise.all([
      node("revenue-grpc.mts"),
      node("revenue-grpc.mts", { key: "rvk_wrong" }),
      node("revenue-grpc.mts", { key: "" }),
    ]);
    expect(served).toEqual({ code: 0, stdout: OVER_GRPC, stderr: "" });
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(
      /^API key authentication is required.* \(request [\w-]{36}\)\n$/,
    );
    expect(unset.stderr).toBe("set the environment variable REVENUE_API_KEY\n");
  });

  it("runs the program in examples/typescript, which prints no request id if it has none", async () => {
    copy("revenue.mts");
    const [served, unreachable] = await Promise.all([
      node("revenue.mts"),
      node("revenue.mts", { url: "http://127.0.0.1:1" }),
    ]);
    expect(served.stdout).toMatch(
      /^earnings this year: 11\.07\nbalance: 1250\.50\n.* 11\.07 {2}[\d-]+\n.* 12\.30 {2}alpha\n/s,
    );
    expect(unreachable).toEqual({
      code: 1,
      stdout: "",
      stderr: "the service cannot be reached\n",
    });
  });
});

describe("over gRPC", () => {
  it.skipIf(!hasGrpc())(
    "Python: prints the digits of the ledger, and the reason of an error",
    async () => {
      const generated = mkdtempSync(join(tmpdir(), "revenue-python-"));
      onTestFinished(() => rmSync(generated, { recursive: true, force: true }));
      const [, command = ""] =
        /`(python -m grpc_tools\.protoc .*?)`/.exec(rootFile("examples/README.md")) ?? [];
      const own = command
        .replaceAll("examples/python-grpc", generated)
        .replaceAll(/\bpython (?=-)/g, `"${PYTHON}" `);
      execFileSync("sh", ["-c", own], { cwd: ROOT });
      const python = (settings: Settings) =>
        run("env", [`PYTHONPATH=${generated}`, PYTHON, "examples/python-grpc/main.py"], settings);
      expect(await python({})).toEqual({ code: 0, stdout: OVER_GRPC, stderr: "" });
      const { code, stderr } = await python({ key: "rvk_wrong" });
      expect(code).toBe(1);
      expect(stderr).toMatch(/^UNAUTHENTICATED: API key authentication is required/);
      expect((await python({ key: "" })).stderr).toBe(
        "set the environment variable REVENUE_API_KEY\n",
      );
    },
  );
});

describe("with a service key, the programs in examples/typescript", () => {
  const project = mkdtempSync(join(tmpdir(), "revenue-internal-"));
  const env = async () => ({
    ...process.env,
    REVENUE_GRPC: fixture.service.grpc,
    REVENUE_SERVICE_KEY: await fixture.issueServiceKey("examples"),
  });

  beforeAll(() => {
    const modules = join(project, "node_modules");
    mkdirSync(join(modules, "revenue-service-client"), { recursive: true });
    const entry = join(ROOT, "clients/typescript/src/index.ts");
    writeFileSync(
      join(modules, "revenue-service-client/package.json"),
      '{"exports":"./index.mjs"}',
    );
    writeFileSync(join(modules, "revenue-service-client/index.mjs"), `export * from "${entry}";`);
    for (const scope of ["@bufbuild", "@grpc"]) {
      symlinkSync(join(ROOT, "node_modules", scope), join(modules, scope));
    }
    writeFileSync(join(project, "package.json"), '{"type":"module"}');
    for (const name of ["grpc", "support", "export", "nightly"]) {
      writeFileSync(join(project, `${name}.mts`), rootFile(`examples/typescript/${name}.mts`));
    }
  });
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  it("look up any provider, and say who does not exist", async () => {
    const options = { cwd: project, env: await env() };
    const [first, second, none] = await Promise.all(
      ["1", "2", "3"].map((id) => runProgram(process.execPath, ["support.mts", id], options)),
    );
    expect(first?.stdout).toContain("balance: 1250.50\n       4061.11  alpha\n");
    expect(second).toMatchObject({ code: 0, stdout: "earnings this year: 0.00\nbalance: 0.00\n" });
    expect(none).toMatchObject({ code: 1, stdout: "" });
    expect(none?.stderr).toMatch(
      /^there is no provider with the id in the header x-provider-id \(request [\w-]{36}\)\n$/,
    );
  });

  it("export a list of providers, and go on after one that does not exist", async () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["export.mts", "2024-01-01", "2024-12-31"],
      { cwd: project, env: await env(), input: "1\n\n3\n2\n", encoding: "utf8" },
    );
    expect(stdout.trim().split("\n").sort()).toEqual([
      "1,4500.05,1",
      "2,0.00,0",
      "provider,totalRevenue,totalRentals",
    ]);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: "3: there is no provider with the id in the header x-provider-id\n",
    });
  });

  it("write all providers to a file, and go on where a run was stopped", async () => {
    const options = { cwd: project, env: await env() };
    const [startDate, endDate] = ["2024-01-01", "2024-12-31"];
    const nightly = (start: string, file: string) =>
      runProgram(process.execPath, ["nightly.mts", start, endDate, file], options);
    const whole = join(project, "whole.csv");
    expect(await nightly(startDate, whole)).toEqual({ code: 0, stdout: "", stderr: "" });
    const text = readFileSync(whole, "utf8");
    const [header = "", first = "", ...rest] = text.split("\r\n");
    expect(header).toMatch(/^providerId,name,grossRevenue,/);
    expect(first).toBe('1,"first",4500.05,0.00,450.01,4050.04,4000.00,0.00,1250.50');
    expect(rest).toEqual(['2,"second",0.00,0.00,0.00,0.00,0.00,0.00,0.00', ""]);
    expect(existsSync(`${whole}.part`) || existsSync(`${whole}.next`)).toBe(false);

    // As a run leaves it that was killed in the second page.
    const page = await fixture.clients.get("gRPC, grpc-js").call({
      method: "ListProviderRevenue",
      message: { startDate, endDate, pageSize: 1 },
      headers: withKey(options.env.REVENUE_SERVICE_KEY),
    });
    const bytes = `${header}\r\n${first}\r\n`.length;
    const pageToken = page.headers["next-page-token"];
    const stopped = join(project, "stopped.csv");
    writeFileSync(`${stopped}.part`, `${text.slice(0, bytes)}2,"sec`);
    writeFileSync(`${stopped}.next`, JSON.stringify({ pageToken, bytes }));
    const other = await nightly("2024-02-01", stopped);
    expect(other).toMatchObject({ code: 1, stdout: "" });
    expect(other.stderr).toMatch(
      /^pageToken: .*its startDate was another one\); the same command /,
    );
    expect(await nightly(startDate, stopped)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(readFileSync(stopped, "utf8")).toBe(text);
    expect(existsSync(`${stopped}.part`) || existsSync(`${stopped}.next`)).toBe(false);
  });
});

it("what the examples make is not in the way of git", () => {
  const made = ["examples/go/gen/revenue/v1/revenue.pb.go", "clients/typescript/dist/LICENSE"];
  const { stdout } = spawnSync("git", ["check-ignore", ...made], { cwd: ROOT, encoding: "utf8" });
  expect(stdout.trim().split("\n")).toEqual(made);
});

// Which answers it repeats: test/unit/clients/client.test.ts.
it("the TypeScript client asks a function for the key of each call, and throws what the service says of it", async () => {
  const keys = [fixture.key, "rvk_unknown", fixture.key];
  const apiKey = async () => keys.shift() ?? "";
  const client = createRevenueClient({ baseUrl: fixture.service.http, apiKey });
  await client.getOverview({});
  await expect(client.getOverview({})).rejects.toMatchObject({ code: Code.Unauthenticated });
  const thrown = await client.getServerBreakdown({ startDate: "March" }).catch((error) => error);
  expect(thrown).toMatchObject({ code: Code.InvalidArgument });
  expect(thrown.rawMessage).toContain("startDate");
  expect(thrown.metadata.get("x-request-id")).toMatch(/^[\w-]{36}$/);
});
