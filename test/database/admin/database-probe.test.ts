/** The probe behind /readyz, on a real database. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import { startDatabaseProbe } from "../../../src/admin/database-probe.ts";
import { createReadiness, type Readiness } from "../../../src/admin/readiness.ts";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { type DatabaseProxy, startDatabaseProxy } from "../../support/database-proxy.ts";
import { until } from "../../support/poll.ts";
import { databaseOfFile } from "../file-database.ts";

const TIMES = {
  period: 50,
  retry: 20,
  schemaPeriod: 50,
  connectTimeout: TIME_LIMIT,
  schemaTimeout: 5_000,
};

const database = await databaseOfFile();
let proxy: DatabaseProxy;
let readiness: Readiness;
let stop: () => Promise<void>;

const start = (times = TIMES) =>
  startDatabaseProbe({ url: parseDatabaseUrl(proxy.url), readiness, times });

beforeEach(async () => {
  proxy = await startDatabaseProxy(database.url);
  readiness = createReadiness();
  stop = start();
});
afterEach(async () => {
  const stopped = stop?.();
  // Ends a look at the schema that gets no answer; the pool waits for it.
  await proxy?.close();
  await stopped;
});

const becomes = (ready: boolean) => until(() => readiness.isReady() === ready);
const attempts = (more: number) => {
  const before = proxy.made();
  return until(() => proxy.made() >= before + more);
};

it("a database that cannot be reached makes the process unready, until it can be again", async () => {
  await attempts(3);
  expect(readiness.isReady()).toBe(true);
  const port = "1"; // nothing listens there
  proxy.route(database.url.replace(/:\d+\//, `:${port}/`));
  await becomes(false);
  expect(readiness.report()).toContain("[-]database failed: several connection attempts");
  proxy.route(database.url);
  await becomes(true);
});

it("a database that accepts connections and never answers makes the process unready", async () => {
  await stop();
  stop = start({ ...TIMES, connectTimeout: 500 });
  await attempts(1);
  proxy.silence();
  proxy.silenceNew(true);
  await becomes(false);
  proxy.silenceNew(false);
  await becomes(true);
});

it("a database that is slow, or answers statements with errors, leaves the process ready", async () => {
  await attempts(2);
  proxy.inject({ errno: 1205, command: "query", times: 1_000 });
  await attempts(10);
  expect(readiness.isReady()).toBe(true);
});

it("a migration that is missing makes the process unready, until it is there", async () => {
  const row = await database.knex("knex_migrations").orderBy("id", "desc").first();
  await database.knex("knex_migrations").where("id", row.id).delete();
  await becomes(false);
  expect(readiness.report()).toContain(`[-]schema failed: migrations are pending: ${row.name}`);
  await database.knex("knex_migrations").insert(row);
  await becomes(true);
});

it("a probe that was stopped makes no further connection, while another makes some", async () => {
  await attempts(1);
  await stop();
  await until(() => proxy.connections() === 0);
  const [stopped, made] = [proxy, proxy.made()];
  proxy = await startDatabaseProxy(database.url);
  stop = start();
  await attempts(5);
  expect(stopped.made()).toBe(made);
  await stopped.close();
});
