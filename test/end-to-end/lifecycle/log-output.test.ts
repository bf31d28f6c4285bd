/** A log that nobody reads, or that cannot be written, costs lines but neither calls nor the stop. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { restLoadClient, startLoad } from "../../support/service/load.ts";
import { startUnreadService, type UnreadService } from "../../support/service/unread-service.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { parseExposition, sumOf } from "../../support/telemetry/exposition.ts";

let database: TestDatabase;
let key: string;
beforeAll(async () => {
  database = await createDatabase();
  await smallLedger(database);
  ({ key } = await issueKey(database.knex, "1", "test", null));
});
afterAll(() => database.drop());

/** Sends calls on 16 connections and expects an answer with status 200 to each. Returns their number. */
async function sendCalls({ http }: UnreadService, count: number): Promise<number> {
  const clients = Array.from({ length: 16 }, () => restLoadClient(http, key, true));
  const load = startLoad(clients, count);
  await until(50_000, () => load.results.length >= count);
  await load.stop();
  const failed = load.results.filter(
    ({ result }) => result.kind !== "answered" || !result.answer.startsWith("200"),
  );
  expect(failed).toEqual([]);
  return load.results.length;
}

async function expectStop(service: UnreadService): Promise<void> {
  const { ending, duration } = await service.stop();
  expect(ending).toBe(0);
  expect(duration).toBeLessThan(4_000);
  expect(service.stderr()).toBe("");
}

it("20,000 calls are answered while nobody reads the log, and SIGTERM ends the service", async () => {
  await using service = await startUnreadService(database.url, "pipe");
  await sendCalls(service, 20_000);
  await expectStop(service);
});

it.each(["pipe", "socket"] as const)(
  "when the reader of a %s reads again, the log says how many lines it lacks",
  async (stdout) => {
    await using service = await startUnreadService(database.url, stdout);
    const calls = await sendCalls(service, 10_000);
    service.read();
    const report = () => service.log().find((line) => "dropped" in line);
    await until(5_000, () => report() !== undefined);
    const lines = service.log().filter(({ msg }) => msg === "call");
    expect(report()).toMatchObject({ level: "warn", dropped: calls - lines.length });
    expect(service.log().at(0)).toMatchObject({ msg: "listening" });
    const metrics = parseExposition(await (await fetch(`${service.admin}/metrics`)).text());
    expect(sumOf(metrics, "revenue_log_lines_dropped_total")).toBe(calls - lines.length);

    const more = await sendCalls(service, 100);
    await expectStop(service);
    await until(10_000, () => service.log().at(-1)?.msg === "stopped");
    expect(service.log().filter(({ msg }) => msg === "call")).toHaveLength(lines.length + more);
  },
);

it("calls are answered if the disk under the log is full, and SIGTERM ends the service", async () => {
  await using service = await startUnreadService(database.url, "full disk");
  await sendCalls(service, 2_000);
  await expectStop(service);
});

it.each(["pipe", "socket"] as const)(
  "calls are answered if the reader of a %s has gone, and SIGTERM ends the service",
  async (stdout) => {
    await using service = await startUnreadService(database.url, stdout);
    service.closeReader();
    await sendCalls(service, 2_000);
    await expectStop(service);
  },
);
