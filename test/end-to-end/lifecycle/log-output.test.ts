/** A log that nobody reads, or that cannot be written, costs lines but neither calls nor the stop. */
import { Agent } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { startUnreadService, type UnreadService } from "../../support/service/unread-service.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { parseExposition, sumOf } from "../../support/telemetry/exposition.ts";

/** Calls whose lines are more than the log's queue and the buffer of a pipe hold. */
const MANY = 4_500;
/** Calls whose lines are more than the buffer of a pipe holds. */
const SOME = 1_200;

let database: TestDatabase;
let key: string;
beforeAll(async () => {
  database = await createDatabase();
  await smallLedger(database);
  ({ key } = await issueKey(database.knex, "1", "test", null));
});
afterAll(() => database.drop());

/** Sends calls, whose lines are as long as a caller can make them, and expects an answer to each. */
async function sendCalls({ http }: UnreadService, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const traceparent = `00-${"4bf92f35".repeat(4)}-00f067aa0ba902b7-01`;
  const headers = [
    ...withKey(key),
    ["x-request-id", "x".repeat(128)],
    ["traceparent", traceparent],
  ] as const;
  const send = () => rawHttp(http, { target: paths.GetOverview, headers, agent });
  const responses = await Promise.all(Array.from({ length: count }, send));
  agent.destroy();
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
}

it("when a reader reads again, the log says how many lines it lacks", async () => {
  await using service = await startUnreadService(database.url, "pipe");
  await sendCalls(service, MANY);
  service.read();
  const report = () => service.log().find((line) => "dropped" in line);
  await until(5_000, () => report() !== undefined);
  const lines = service.log().filter(({ msg }) => msg === "call").length;
  expect(report()).toMatchObject({ level: "warn", dropped: MANY - lines });
  expect(service.log().at(0)).toMatchObject({ msg: "listening" });
  const metrics = parseExposition(await (await fetch(`${service.admin}/metrics`)).text());
  expect(sumOf(metrics, "revenue_log_lines_dropped_total")).toBe(MANY - lines);

  await sendCalls(service, 100);
  expect(await service.stop()).toBe(0);
  await until(10_000, () => service.log().at(-1)?.msg === "stopped");
  expect(service.log().filter(({ msg }) => msg === "call")).toHaveLength(lines + 100);
});

it("while nobody reads the log, calls are answered and SIGTERM ends the service", async () => {
  await using service = await startUnreadService(database.url, "pipe");
  await sendCalls(service, SOME);
  expect(await service.stop()).toBe(0);
});

it.each(["pipe", "socket", "full disk"] as const)(
  "calls are answered if the log cannot be written to a %s, and SIGTERM ends the service",
  async (stdout) => {
    await using service = await startUnreadService(database.url, stdout);
    service.closeReader();
    await sendCalls(service, 200);
    expect(await service.stop()).toBe(0);
  },
);
