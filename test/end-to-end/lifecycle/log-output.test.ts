/**
 * A log that nobody reads, or that cannot be written, costs lines but neither calls nor the stop. What
 * becomes of the lines is in test/unit/telemetry/log-output.test.ts.
 */
import { Agent } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { paths, withKey } from "../../support/request.ts";
import { startUnreadService } from "../../support/service/unread-service.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** Calls whose lines are more than the buffer of a pipe holds. */
const MANY = 400;

let database: TestDatabase;
let key: string;
beforeAll(async () => {
  database = await createDatabase();
  await smallLedger(database);
  ({ key } = await issueKey(database.knex, "1", "test", null));
});
afterAll(() => database?.drop());

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

it("while nobody reads the log, calls are answered and SIGTERM ends the service", async () => {
  await using service = await startUnreadService(database.url, "pipe");
  await sendCalls(service.http, MANY);
  expect(await service.stop()).toBe(0);
});

it("once the reader of the log has gone, calls are answered and SIGTERM ends the service", async () => {
  await using service = await startUnreadService(database.url, "socket");
  service.closeReader();
  await sendCalls(service.http, 100);
  expect(await service.stop()).toBe(0);
});
