/**
 * Node's permission model with the options of `deploy/`: nothing that the service or its commands do needs more. All
 * other tests run with it, too, where a refusal is an error; this one also hears of those that nobody would notice.
 */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { CLIENTS, openClients } from "../../support/clients/clients.ts";
import { runProgram } from "../../support/commands/run-command.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { withKey } from "../../support/request.ts";
import { SEAT_BELT } from "../../support/seat-belt.ts";
import { runService, startService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const PRELOAD = new URL("./audit.ts", import.meta.url).href;
const AUDIT = `${SEAT_BELT.replace("--permission ", "--permission-audit ")} --import ${PRELOAD}`;

const folder = mkdtempSync(join(tmpdir(), "revenue-belt-"));
const file = join(folder, "url");
let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await smallLedger(database);
  writeFileSync(file, database.url);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database?.drop();
});

it("no call, no scrape, no file that changes and no stop needs more than is allowed; SIGUSR1 opens no debugger", async () => {
  const { key } = await issueKey(database.knex, "1", "test", null);
  const service = await startService("", {
    DATABASE_URL_FILE: file,
    NODE_OPTIONS: AUDIT,
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
  });
  const clients = openClients(service);
  for (const name of CLIENTS) {
    const outcome = await clients.get(name).call({ method: "GetOverview", headers: withKey(key) });
    expect(outcome).toHaveProperty("response");
  }
  clients.close();
  for (const url of [`${service.admin}/metrics`, `${service.admin}/readyz`, service.http]) {
    expect((await fetch(url)).status).toBe(200);
  }
  writeFileSync(`${file}.new`, database.url.replace("127.0.0.1", "localhost"));
  renameSync(`${file}.new`, file);
  await until(() => service.log().some(({ msg }) => msg === "database URL reloaded"));
  service.signal("SIGUSR1");
  expect(await service.stop()).toBe(0);
  expect(service.output()).not.toMatch(/refused: |Debugger/);
});

it.each([
  ["migrate.ts", []],
  ["rollup.ts", []],
  ["key.ts", ["create", "--provider", "1"]],
])("%s %j needs no more than is allowed", async (command, args) => {
  const env = { ...process.env, DATABASE_URL: database.url, NODE_OPTIONS: AUDIT };
  const result = await runProgram(process.execPath, [`src/cli/${command}`, ...args], { env });
  expect(result).toMatchObject({ code: 0, stderr: "" });
});

it("a file in another folder is refused, with the option that would allow it", async () => {
  const { ending, stderr } = await runService({
    DATABASE_URL: "",
    DATABASE_URL_FILE: "/etc/hostname",
  });
  expect({ ending, stderr }).toEqual({
    ending: 1,
    stderr:
      "cannot start: DATABASE_URL_FILE names /etc/hostname, which cannot be read (ERR_ACCESS_DENIED: no --allow-fs-read in NODE_OPTIONS names its folder)\n",
  });
});
