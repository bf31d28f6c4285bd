/**
 * Starts that fail: one line for each mistake, without the password, and exit code 1. `--check` prints
 * what it found, and listens on nothing. The texts for each state of the database are in
 * test/end-to-end/cli/format-error.test.ts.
 */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import type { NetworkInterfaceInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { listenAddress } from "../../../src/net/listen.ts";
import { healthOf } from "../../support/clients/health.ts";
import { failed, runProgram } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { startDatabaseProxy } from "../../support/database-proxy.ts";
import { runService, startService } from "../../support/service/service-process.ts";
import { createAuthority, createFiles } from "../../support/tls/certificates.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

const MISSPELLED = "MAX_CONECTIONS is set, which is no setting: did you mean MAX_CONNECTIONS?";

const authority = await createAuthority();
const pair = await authority.issue();

it("a Node that is too old is told, by each command", async () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
  for (const name of ["start", "migrate", "key", "rollup", "seed", "bench"]) {
    expect(scripts[name]).toMatch(/^exec node --require \.\/src\/node-version\.cjs \S+\.ts$/);
  }
  using files = createFiles(pair, authority.cert);
  const old = join(files.folder, "old.cjs");
  writeFileSync(old, "Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })");
  const args = ["--require", old, "--require", "./src/node-version.cjs", "src/main.ts"];
  expect(await runProgram(process.execPath, args)).toEqual(
    failed("needs Node 26, this is 20.20.2"),
  );
});

it("every mistake in the environment and in its files is told", async () => {
  using files = createFiles(pair, authority.cert);
  const missing = join(files.folder, "missing.crt");
  const result = await runService({
    DATABASE_URL: "postgres://user:hunter2@host/database",
    HTTP_PORT: "http",
    ...files.files,
    TLS_CLIENT_CA_FILE: missing,
    LOG_LEVLE: "info",
  });
  expect(result).toMatchObject({ ending: 1, stdout: "" });
  expect(result.stderr.split("\n")).toEqual([
    'cannot start: DATABASE_URL starts with "postgres://"; expected mysql://user:password@host:3306/database',
    'cannot start: HTTP_PORT is "http"; expected a port from 0 to 65535',
    `cannot start: TLS_CLIENT_CA_FILE names ${missing}, which cannot be read (ENOENT)`,
    "warning: LOG_LEVLE is set, which is no setting: did you mean LOG_LEVEL?",
    "",
  ]);
});

it("a schema that is behind is told", async () => {
  const [last] = await database.knex("knex_migrations").orderBy("id", "desc").limit(1);
  await database.knex("knex_migrations").where({ id: last.id }).del();
  const start = await runService({ DATABASE_URL: database.url });
  await database.knex("knex_migrations").insert(last);
  expect(start).toEqual({
    ending: 1,
    stdout: "",
    stderr: `cannot start: the database schema is 1 migration behind (next: ${last.name}): run \`npm run migrate\`\n`,
  });
});

it("a port that is in use is told", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = `${(server.address() as AddressInfo).port}`;
  const { ending, stderr } = await runService({ DATABASE_URL: database.url, HTTP_PORT: port });
  server.close();
  expect(ending).toBe(1);
  expect(stderr).toMatch(/^cannot start: .*EADDRINUSE.*\n$/);
  expect(stderr).toContain(port);
});

it("HOST :: is every address of both families, also for the admin port, as the log says; idle time is a setting, and a misspelled one is told", async () => {
  const environment = { HOST: "::", HTTP_IDLE_TIMEOUT_MS: "90000", MAX_CONECTIONS: "5" };
  const service = await startService(database.url, environment);
  onTestFinished(async () => void (await service.kill()));
  const { port } = new URL(service.http);
  const listening = service.log().find(({ msg }) => msg === "listening");
  expect(listening).toMatchObject({ host: "::", adminHost: "::" });
  expect(service.log().find(({ level }) => level === "warn")?.msg).toBe(MISSPELLED);
  const adminPort = listening?.adminPort;
  for (const host of ["127.0.0.1", "[::1]"]) {
    const response = await fetch(`http://${host}:${port}/api/provider/revenue`);
    expect(response.status).toBe(401);
    expect(response.headers.get("keep-alive")).toBe("timeout=90");
    expect((await fetch(`http://${host}:${adminPort}/readyz`)).status).toBe(200);
    const grpc = `${host}:${service.grpc.split(":").at(-1)}`;
    expect(await healthOf(grpc).check("")).toBe("SERVING");
  }
});

it.each([
  ["::", true, "::"],
  ["::", false, "0.0.0.0"],
  ["127.0.0.1", false, "127.0.0.1"],
])("the address %s with IPv6: %s is %s", (host, hasIpv6, address) => {
  const family = hasIpv6 ? "IPv6" : "IPv4";
  expect(listenAddress(host, { lo: [{ family } as NetworkInterfaceInfo] })).toBe(address);
});

it("--check tells data that is too old, with which every call would fail", async () => {
  const environment = { DATABASE_URL: database.url, DATABASE_READ_MAX_LAG_MS: "600000" };
  expect(await runService(environment, ["--check"])).toMatchObject({
    ending: 1,
    stderr:
      "error: calls would fail: there is no heartbeat, which tells the age of the data: run `npm run rollup -- --watch`\n",
  });
});

it("--check of a valid environment, with the database's URL in a file, ends with 0", async () => {
  using files = createFiles(pair, authority.cert);
  const urlFile = join(files.folder, "url");
  writeFileSync(urlFile, `${database.url}\n`);
  await database.knex.raw("INSERT INTO heartbeat VALUES (1, UTC_TIMESTAMP(3))");
  const environment = {
    DATABASE_URL: undefined,
    DATABASE_URL_FILE: urlFile,
    DATABASE_READ_MAX_LAG_MS: "600000",
    MAX_CONECTIONS: "5",
    ADMIN_HOST: "::1",
    ADMIN_PORT: "9464",
    ...files.files,
  };
  const { ending, stdout, stderr } = await runService(environment, ["--check"]);
  expect({ ending, stderr }).toEqual({ ending: 0, stderr: `warning: ${MISSPELLED}\n` });
  expect(stdout.split("\n")).toEqual([
    "ok: the configuration is valid",
    "ok: HTTP on 127.0.0.1:0, gRPC on 127.0.0.1:0, metrics and health on [::1]:9464",
    expect.stringMatching(
      /^ok: the certificate for DNS:localhost, IP Address:127\.0\.0\.1 expires \d{4}-[\d-]+T[\d:.]+Z$/,
    ),
    "ok: gRPC clients must present a certificate",
    expect.stringMatching(/^ok: the database answers: \d+\.\d+.*, not encrypted$/),
    "ok: a session of it is as the service sets it up",
    "ok: the schema is up to date",
    "ok: tables, columns and rights are as the service's statements need them",
    "ok: the data is not too old (DATABASE_READ_MAX_LAG_MS)",
    "",
  ]);
});

it("--check tells all at once: a database that is away, hosts that do not resolve, settings that do nothing", async () => {
  const environment = {
    DATABASE_URL: "mysql://u:hunter2@127.0.0.1:1/d",
    HOST: "service.invalid",
    ADMIN_HOST: "admin.invalid",
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.invalid:4318",
    MAX_CALLS: "100",
  };
  const { ending, stderr } = await runService(environment, ["--check"]);
  expect(ending).toBe(1);
  const unresolved = (what: string) =>
    expect.stringMatching(new RegExp(`^${what}\\.invalid, which does not resolve \\(\\w+\\)$`));
  expect(stderr.split("\n")).toEqual([
    unresolved("error: HOST names the host service"),
    unresolved("error: ADMIN_HOST names the host admin"),
    "warning: MAX_CALLS_PER_PROVIDER is 250, above MAX_CALLS, 100: it limits nothing; expected at most MAX_CALLS",
    expect.stringContaining("without TLS, on service.invalid (HOST)"),
    unresolved("warning: the endpoint of OTLP names the host collector"),
    "error: cannot reach the database in DATABASE_URL: check that it is running and that the host and port are correct (ECONNREFUSED)",
    "",
  ]);
});

it("a proxy that swallows what the service sets in its sessions is told", async () => {
  const set = "SET SESSION ";
  const proxy = await startDatabaseProxy(database.url, (sent) => {
    const at = sent.indexOf(set);
    if (at >= 0) sent.fill(" ", sent.write("DO 1", at) + at);
    return false;
  });
  const environment = { DATABASE_URL: proxy.url };
  const start = await runService(environment);
  const { ending, stderr } = await runService(environment, ["--check"]);
  await proxy.close();
  // The zone of the tests' server is not UTC.
  const problem = "the database session is not as it was set up (time_zone is -05:00, not +00:00";
  expect(start.ending).toBe(1);
  expect(start.stderr).toContain(`cannot start: ${problem}`);
  expect(start.stdout).toMatch(
    /"level":"warn".*lacks a protection: max_(statement|execution)_time/,
  );
  expect(ending).toBe(1);
  expect(stderr).toContain("warning: the database session lacks a protection: ");
  expect(stderr).toContain(`error: ${problem}`);
});
