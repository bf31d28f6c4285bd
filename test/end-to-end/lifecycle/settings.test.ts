/**
 * What else may be set of one process, all of it at once: addresses of both families, renewed time zone data, a collector
 * that is away, a misspelled setting. It runs with the permissions of `deploy/`. All other tests do, too, where a refusal
 * is an error; this one also hears of those that nobody would notice.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CLIENTS } from "../../support/clients/clients.ts";
import { healthOf } from "../../support/clients/health.ts";
import { runProgram } from "../../support/commands/run-command.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { SEAT_BELT } from "../../support/seat-belt.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { parseExposition, sumOf } from "../../support/telemetry/exposition.ts";
import { renewedTimeZones } from "./time-zone-file.ts";

/** Prints each access that Node's permission model would refuse: https://nodejs.org/api/permissions.html. */
const AUDIT = `
import { subscribe } from "node:diagnostics_channel";
for (const scope of ["fs", "net", "child", "worker", "inspector", "wasi", "addon", "openssl", "ffi"])
  subscribe("node:permission-model:" + scope, (message) => console.error("refused:", scope, message));
`;
const RELEASE = "2099z";

const folder = mkdtempSync(join(tmpdir(), "revenue-settings-"));
const preload = join(folder, "audit.mjs");
const NODE_OPTIONS = `${SEAT_BELT.replace("--permission ", "--permission-audit ")} --import ${preload}`;

let fixture: Fixture;
beforeAll(async () => {
  writeFileSync(preload, AUDIT);
  writeFileSync(join(folder, "zoneinfo64.res"), renewedTimeZones(RELEASE));
  fixture = await createFixture(smallLedger, {
    NODE_OPTIONS,
    HOST: "::",
    HTTP_IDLE_TIMEOUT_MS: "90000",
    MAX_CONECTIONS: "5",
    ICU_TIMEZONE_FILES_DIR: folder,
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
    OTEL_BSP_SCHEDULE_DELAY: "20",
    OTEL_EXPORTER_OTLP_TIMEOUT: "200",
  });
});
afterAll(async () => {
  await fixture?.dispose();
  rmSync(folder, { recursive: true });
});

const lineOf = (message: string) => fixture.service.log().find(({ msg }) => msg === message);
const metrics = async () =>
  parseExposition(await (await fetch(`${fixture.service.admin}/metrics`)).text());

it("a misspelled setting is told", () => {
  const told = "MAX_CONECTIONS is set, which is no setting: did you mean MAX_CONNECTIONS?";
  expect(fixture.service.log().find(({ level }) => level === "warn")?.msg).toBe(told);
});

it("HOST :: is every address of both families, also for the admin port, as the log says; idle time is a setting", async () => {
  const { service } = fixture;
  const listening = lineOf("listening");
  expect(listening).toMatchObject({ host: "::", adminHost: "::" });
  for (const host of ["127.0.0.1", "[::1]"]) {
    const response = await fetch(`http://${host}:${listening?.httpPort}${paths.GetOverview}`);
    expect(response.status).toBe(401);
    expect(response.headers.get("keep-alive")).toBe("timeout=90");
    expect((await fetch(`http://${host}:${listening?.adminPort}/readyz`)).status).toBe(200);
    const grpc = `${host}:${service.grpc.split(":").at(-1)}`;
    expect(await healthOf(grpc).check("")).toBe("SERVING");
  }
});

it("renewed time zone data are told, and used for days", async () => {
  const { service, key } = fixture;
  expect(lineOf("listening")).toMatchObject({ tzdata: RELEASE });
  const families = await metrics();
  expect(sumOf(families, "revenue_build_info", { tzdata: RELEASE })).toBe(1);
  expect(sumOf(families, "revenue_tzdata_release_year")).toBe(2099);
  const query = "startDate=2026-03-10&endDate=2026-03-10&timeZone=Asia/Kolkata";
  const headers = Object.fromEntries(withKey(key));
  const answer = await fetch(`${service.http}${paths.GetServerBreakdown}?${query}`, { headers });
  expect(await answer.json()).toMatchObject({
    startDate: "2026-03-09T19:00:00Z",
    endDate: "2026-03-10T18:59:59.999Z",
  });
});

it("without its collector the service answers, warns once, and stops with 0; nothing that it did needs more than is allowed, and SIGUSR1 opens no debugger", async () => {
  const { service, clients, key } = fixture;
  for (const name of CLIENTS) {
    const outcome = await clients.get(name).call({ method: "GetOverview", headers: withKey(key) });
    expect(outcome).toHaveProperty("response");
  }
  await until(() => lineOf("cannot export spans") !== undefined);
  expect(service.log().filter(({ msg }) => msg === "cannot export spans")).toMatchObject([
    { cause: { code: "ECONNREFUSED", message: expect.stringContaining("127.0.0.1:1") } },
  ]);
  service.signal("SIGUSR1");
  expect(await service.stop()).toBe(0);
  expect(service.output()).not.toMatch(/refused: |Debugger/);
});

it("a command needs no more than is allowed either", async () => {
  const env = { ...process.env, DATABASE_URL: fixture.database.url, NODE_OPTIONS };
  const result = await runProgram(process.execPath, ["src/cli/rollup.ts"], { env });
  expect(result).toMatchObject({ code: 0, stderr: "" });
});
