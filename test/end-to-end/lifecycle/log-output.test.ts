/**
 * A log that nobody reads, or that cannot be written, costs lines but neither calls nor the stop. What
 * becomes of the lines is in test/unit/telemetry/log-output.test.ts.
 */
import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { freePort } from "../../../dev/free-port.ts";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { spawnService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** Calls whose lines, of 500 bytes, are more than the buffer of a pipe holds. */
const MANY = 200;

let database: TestDatabase;
let key: string;
beforeAll(async () => {
  database = await createDatabase();
  await smallLedger(database);
  ({ key } = await issueKey(database.knex, "1", "test", null));
});
afterAll(() => database?.drop());

/** A pipe as a shell makes it, whose reader does not read. Node's own "pipe" is a socket. */
function openPipe() {
  const directory = mkdtempSync(join(tmpdir(), "stdout-"));
  const path = join(directory, "pipe");
  execFileSync("mkfifo", [path]);
  // Without O_NONBLOCK, each end waits for the other one.
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  rmSync(directory, { recursive: true });
  return { reader, writer };
}

/** Sends calls, whose lines are as long as a caller can make them, and expects an answer to each. */
async function sendCalls(http: string, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const headers = [
    ...withKey(key),
    ["x-request-id", "x".repeat(128)],
    ["traceparent", `00-${"4bf92f35".repeat(4)}-00f067aa0ba902b7-01`],
  ] as const;
  const send = () => rawHttp(http, { target: paths.GetOverview, headers, agent });
  const responses = await Promise.all(Array.from({ length: count }, send));
  agent.destroy();
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
}

it.each([
  ["a pipe, and goes away", {}, true],
  ["a pipe that may be opened again", { NODE_OPTIONS: "" }, false],
])(
  "while nobody reads the log, %s, calls are answered and SIGTERM ends the service",
  async (_, options, goesAway) => {
    const { reader, writer } = openPipe();
    // Its log, which would tell the port, is not read.
    const httpPort = `${await freePort()}`;
    const environment = { HTTP_PORT: httpPort, DATABASE_URL: database.url, ...options };
    const { child, ended } = spawnService(environment, [], writer);
    closeSync(writer);
    onTestFinished(() => void child.kill("SIGKILL"));
    child.stderr?.pipe(process.stderr);
    const http = `http://127.0.0.1:${httpPort}`;
    await until(() => {
      if (child.exitCode !== null) throw new Error("the service ended");
      return fetch(http).then(Boolean, () => false);
    });
    await sendCalls(http, MANY);
    if (goesAway) {
      closeSync(reader);
      await sendCalls(http, 20);
    }
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    if (!goesAway) closeSync(reader);
  },
);
