/**
 * Starts that fail: one line for each mistake, and exit code 1. `--check` prints what it found, and listens on nothing.
 * What each state of the database leads to: test/database/db/start-checks.test.ts, test/end-to-end/cli/format-error.test.ts.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { failed, runProgram } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { startDatabaseProxy } from "../../support/database-proxy.ts";
import { runService } from "../../support/service/service-process.ts";
import { createAuthority, createFiles } from "../../support/tls/certificates.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

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

it("every mistake in the environment and in its files is told, also a file in a folder that is not allowed", async () => {
  using files = createFiles(pair, authority.cert);
  const missing = join(files.folder, "missing.crt");
  const result = await runService({
    DATABASE_URL: "",
    DATABASE_URL_FILE: "/etc/hostname",
    HTTP_PORT: "http",
    ...files.files,
    TLS_CLIENT_CA_FILE: missing,
    LOG_LEVLE: "info",
  });
  expect(result).toMatchObject({ ending: 1, stdout: "" });
  expect(result.stderr.split("\n")).toEqual([
    "cannot start: DATABASE_URL_FILE names /etc/hostname, which cannot be read (ERR_ACCESS_DENIED)",
    'cannot start: HTTP_PORT is "http"; expected a port from 0 to 65535',
    `cannot start: TLS_CLIENT_CA_FILE names ${missing}, which cannot be read (ENOENT)`,
    "warning: LOG_LEVLE is set, which is no setting: did you mean LOG_LEVEL?",
    "",
  ]);
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
    ADMIN_HOST: "::1",
    ADMIN_PORT: "9464",
    ...files.files,
  };
  const { ending, stdout, stderr } = await runService(environment, ["--check"]);
  expect({ ending, stderr }).toEqual({ ending: 0, stderr: "" });
  expect(stdout.split("\n")).toEqual([
    "ok: the configuration is valid, and the files that it names",
    expect.stringMatching(/^ok: the database answers: \d+\.\d+.*, not encrypted$/),
    "ok: a session of it is as the service sets it up",
    "ok: the schema is up to date",
    "ok: tables, columns and rights are as the service's statements need them",
    "ok: the data is not too old (DATABASE_READ_MAX_LAG_MS)",
    "",
  ]);
});

it("a proxy that swallows what the service sets in its sessions is told, by --check with all else that is wrong", async () => {
  const set = "SET SESSION ";
  const proxy = await startDatabaseProxy(database.url, (sent) => {
    const at = sent.indexOf(set);
    if (at >= 0) sent.fill(" ", sent.write("DO 1", at) + at);
    return false;
  });
  const start = await runService({ DATABASE_URL: proxy.url });
  const environment = {
    DATABASE_URL: proxy.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318",
    MAX_CALL: "100",
  };
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
  expect(stderr.split("\n").slice(0, 2)).toEqual([
    "warning: MAX_CALL is set, which is no setting: did you mean MAX_CALL_MS?",
    "warning: OTEL_EXPORTER_OTLP_ENDPOINT: expected a URL with http:// or https://, got collector:4318; no spans are exported",
  ]);
  expect(stderr).toContain("warning: the database session lacks a protection: ");
  expect(stderr).toContain(`error: ${problem}`);
});
