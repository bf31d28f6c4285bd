/**
 * SIGTERM under load: each request receives its complete answer, or finds the port closed before
 * anything of it was sent. Any other end is a lost request: a reset, a connection that closes
 * without an answer, an error that the service did not send.
 *
 * A client that opens a connection for each request may in addition be reset on a connection that
 * the kernel has established and the service has not accepted. The log shows which requests the
 * service had accepted.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import {
  grpcLoadClient,
  type Load,
  type LoadClient,
  restLoadClient,
  startLoad,
} from "../../support/service/load.ts";
import { startService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const CLIENTS_PER_LOAD = 5;

let database: TestDatabase;
let key: string;
beforeAll(async () => {
  database = await createDatabase();
  await smallLedger(database);
  key = (await issueKey(database.knex, "1", "test", null)).key;
});
afterAll(() => database?.drop());

function startLoadWith(createClient: () => LoadClient): Load {
  return startLoad(Array.from({ length: CLIENTS_PER_LOAD }, createClient));
}

const lostRequests = ({ results }: Load) =>
  results.flatMap(({ result }) => (result.kind === "lost" ? [result] : []));

it("no request is lost over REST or gRPC", async () => {
  const { http, grpc, ...service } = await startService(database.url);
  const keptAlive = startLoadWith(() => restLoadClient(http, key, true));
  const connectionEach = startLoadWith(() => restLoadClient(http, key, false));
  const overGrpc = startLoadWith(() => grpcLoadClient(grpc, key));
  const loads = [keptAlive, connectionEach, overGrpc];
  await until(10_000, () => loads.every((load) => load.answered() >= 100));
  service.signal("SIGTERM");
  expect(await service.ended).toBe(0);
  await Promise.all(loads.map((load) => load.stop()));

  const accepted = new Set(service.log().map(({ requestId }) => requestId));
  expect([
    ...lostRequests(keptAlive),
    ...lostRequests(connectionEach).filter(({ requestId }) => accepted.has(requestId)),
    ...lostRequests(overGrpc),
  ]).toEqual([]);
  const answers = loads.flatMap(({ results }) =>
    results.flatMap(({ result }) => (result.kind === "answered" ? [result.answer] : [])),
  );
  expect(answers.filter((answer) => !/^(200 |OK$)/.test(answer))).toEqual([]);
});
