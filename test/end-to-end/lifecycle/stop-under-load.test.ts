/**
 * SIGTERM under load: each request gets its whole answer, or finds the port closed before
 * anything of it was sent. Everything else is a lost request: a reset, a connection that
 * closes without an answer, an error that is not an answer of the service.
 *
 * A client that makes a connection for each request may in addition be reset on one that the
 * kernel had made and the service had not yet taken; there the log tells what was taken on.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { grpcLoadClient, restClient, startLoad } from "../../support/service/load.ts";
import { startService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let database: TestDatabase;
let key: string;
beforeAll(async () => {
  database = await createDatabase();
  await smallLedger(database);
  key = (await issueKey(database.knex, "1", "test", null)).key;
});
afterAll(() => database?.drop());

const EACH = "REST with a connection for each request";

const CLIENTS = {
  "REST with kept-alive connections": (http: string) => restClient(http, key, true),
  [EACH]: (http: string) => restClient(http, key, false),
  gRPC: (_: string, grpc: string) => grpcLoadClient(grpc, key),
};

// Three times each: what is lost now and then is lost.
const RUNS = Object.entries(CLIENTS).flatMap(([name, client]) =>
  [1, 2, 3].map((run) => ({ name, run, client })),
);

it.each(RUNS)("$name loses nothing ($run)", async ({ name, client }) => {
  const service = await startService(database.url);
  const load = startLoad(Array.from({ length: 8 }, () => client(service.http, service.grpc)));
  await until(10_000, () => load.answered() >= 200);
  const began = performance.now();
  service.signal("SIGTERM");
  expect(await service.ended).toBe(0);
  expect(performance.now() - began).toBeLessThan(5_000);
  await load.stop();
  const taken = new Set(service.log().map(({ requestId }) => requestId));
  const lost = load.endings.flatMap(({ ending }) =>
    ending.kind === "lost" && (name !== EACH || taken.has(ending.requestId)) ? [ending.why] : [],
  );
  const told = load.endings.flatMap(({ ending }) =>
    ending.kind === "answered" ? [ending.told.slice(0, 3)] : [],
  );
  expect(lost).toEqual([]);
  expect(told.filter((one) => one !== "200" && one !== "OK")).toEqual([]);
});
