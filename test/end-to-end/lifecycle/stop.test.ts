/** The end of the service by a signal or an uncaught error: what it finishes, and what does not delay it. */
import { Agent } from "node:http";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { callGrpc, grpcClient } from "../../support/clients/grpc-client.ts";
import { healthOf } from "../../support/clients/health.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { grpcLoadClient, restLoadClient, startLoad } from "../../support/service/load.ts";
import {
  runService,
  type ServiceProcess,
  startService,
} from "../../support/service/service-process.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const PRELOAD = new URL("./throw-on-signal.ts", import.meta.url).href;

let database: TestDatabase;
let key: string;
beforeAll(async () => {
  database = await createDatabase();
  await smallLedger(database);
  ({ key } = await issueKey(database.knex, "1", "test", null));
});
afterAll(() => database?.drop());

/** A service until the end of the test, and clients with a connection each. */
async function start(environment: Readonly<Record<string, string>> = {}) {
  const service = await startService(database.url, environment);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const client = grpcClient(service.grpc);
  onTestFinished(async () => {
    agent.destroy();
    client.close();
    await service.kill();
  });
  const headers = withKey(key);
  return {
    service,
    get: () => rawHttp(service.http, { target: paths.GetOverview, headers, agent }),
    call: () => callGrpc(client, { method: "GetOverview", headers }),
  };
}

/** Whether a port of the service accepts no connection. */
const isClosed = (url: string) =>
  fetch(url).then(
    () => false,
    ({ cause }) => cause.code === "ECONNREFUSED",
  );

const linesOf = (service: ServiceProcess, message: string) =>
  service.log().filter(({ msg }) => msg === message);

it("SIGTERM is not lost while the service starts", async () => {
  const preload = new URL("./signal-on-change.ts", import.meta.url).href;
  const environment = { DATABASE_URL: database.url, NODE_OPTIONS: `--import ${preload}` };
  expect(await runService(environment)).toMatchObject({ ending: 0, stderr: "" });
});

it("SIGHUP ends nothing; during STOP_LAME_DUCK_MS after SIGTERM readiness fails, and new connections are served; SIGINT ends it: the ports close, and calls in flight are answered", async () => {
  const { service, get, call } = await start({ STOP_LAME_DUCK_MS: `${TIME_LIMIT}` });
  const statusOf = async (path: string) => (await fetch(service.admin + path)).status;
  service.signal("SIGHUP");
  await until(() => linesOf(service, "nothing to do").length > 0);
  expect(await statusOf("/readyz")).toBe(200);
  service.signal("SIGTERM");
  await until(async () => (await statusOf("/readyz")) === 503);
  expect(await statusOf("/livez")).toBe(200);
  expect(await healthOf(service.grpc).check("")).toBe("NOT_SERVING");
  await until(() => linesOf(service, "not ready").length > 0);
  expect(linesOf(service, "not ready")).toMatchObject([{ level: "info", failed: ["shutdown"] }]);

  // Neither idle connections nor open watches delay it.
  expect(await healthOf(service.grpc).watch("").next()).toMatchObject({ value: "NOT_SERVING" });

  await using lock = await lockTable(database, "charges");
  const rest = get();
  await lock.waitForQueries(1); // or the two share a run
  const grpc = call();
  await lock.waitForQueries(2);
  service.signal("SIGINT");
  await until(() => isClosed(service.http));
  await until(() => isClosed(`http://${service.grpc}`));
  service.signal("SIGTERM");
  await lock.release();
  expect(await rest).toMatchObject({ status: 200, headers: { connection: "close" } });
  expect(await grpc).toHaveProperty("response");
  expect(await service.ended).toBe(0);
  expect(linesOf(service, "stopping")).toHaveLength(1);
  expect(service.log().at(-1)).toMatchObject({ msg: "stopped" });
});

// Any other end is a lost request: a reset, a connection that closes without an answer, an error that
// the service did not send.
it("under load, each request is answered for STOP_LAME_DUCK_MS, or finds the port closed before anything of it was sent", async () => {
  const lameDuck = 300;
  const { service } = await start({ STOP_LAME_DUCK_MS: `${lameDuck}` });
  const load = startLoad(
    Array.from({ length: 6 }, () => [
      restLoadClient(service.http, key),
      grpcLoadClient(service.grpc, key),
    ]).flat(),
  );
  await until(() => load.answered() >= 100);
  const signalled = performance.now();
  service.signal("SIGTERM");
  expect(await service.ended).toBe(0);
  expect(performance.now() - signalled).toBeGreaterThan(lameDuck);
  await load.stop();
  const isOk = (answer: string) => /^(200 |OK$)/.test(answer);
  // HTTP/1.1 cannot tell a client that stands still for 200 ms that its connection is being closed.
  const unexpected = load.results.filter(
    ({ result, late }) =>
      (result.kind === "lost" && !late) || (result.kind === "answered" && !isOk(result.answer)),
  );
  expect(unexpected).toEqual([]);
});

it("an uncaught error is logged, and ends the service with exit code 1; calls that take longer than STOP_GRACE_MS are cut", async () => {
  const { service, get, call } = await start({
    STOP_GRACE_MS: "300",
    NODE_OPTIONS: `--import ${PRELOAD}`,
  });
  await using lock = await lockTable(database, "charges");
  const rest = get().catch(() => "cut");
  await lock.waitForQueries(1);
  const grpc = call();
  await lock.waitForQueries(2);
  service.signal("SIGUSR2"); // an error, and a promise that is rejected, which changes nothing more
  expect(await service.ended).toBe(1);
  expect(await rest).toBe("cut");
  expect(await grpc).toMatchObject({ code: expect.stringMatching(/^(UNAVAILABLE|CANCELLED)$/) });
  expect(linesOf(service, "uncaught error")).toHaveLength(2);
  for (const line of linesOf(service, "uncaught error")) {
    expect(line).toMatchObject({
      level: "fatal",
      type: "Error",
      message: "Lost connection",
      code: "ER_TEST",
      stack: expect.stringContaining("throw-on-signal.ts"),
    });
  }
  expect(linesOf(service, "stopping")).toMatchObject([{ reason: "uncaughtException" }]);
  expect(service.log().at(-1)).toMatchObject({ msg: "stopped" });
  expect(service.output()).not.toContain("secret");
});
