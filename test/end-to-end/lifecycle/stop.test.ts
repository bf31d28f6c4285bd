/** SIGTERM and SIGINT: calls in flight are finished, and nothing else delays the exit. */
import { Agent } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { callGrpc, grpcClient } from "../../support/clients/grpc-client.ts";
import { checkHealth, watchHealth } from "../../support/clients/health.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** A service until the end of the test, and clients with a connection each. */
async function start(environment: Readonly<Record<string, string>> = {}) {
  const fixture = await createFixture(smallLedger, environment);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const client = grpcClient(fixture.service.grpc);
  onTestFinished(async () => {
    agent.destroy();
    client.close();
    await fixture.dispose();
  });
  const headers = withKey(fixture.key);
  return {
    ...fixture,
    client,
    get: () => rawHttp(fixture.service.http, { target: paths.GetOverview, headers, agent }),
    call: () => callGrpc(client, { method: "GetOverview", headers }),
  };
}

/** Whether a port of the service accepts no connection. */
const isClosed = (url: string) =>
  fetch(url).then(
    () => false,
    ({ cause }) => cause.code === "ECONNREFUSED",
  );

const linesOf = ({ service }: Pick<Fixture, "service">, message: string) =>
  service.log().filter(({ msg }) => msg === message);

it("SIGINT ends the service at once: idle connections and open watches do not delay it", async () => {
  const fixture = await start({ STOP_LAME_DUCK_MS: "100000", STOP_GRACE_MS: "100000" });
  const { service, client, get } = fixture;
  await get();
  const watch = watchHealth(client, "");
  await until(10_000, () => watch.statuses.length > 0);
  const CALLS = 50;
  const refused = { target: paths.GetOverview, headers: withKey("unknown") };
  await Promise.all(Array.from({ length: CALLS }, () => rawHttp(service.http, refused)));
  service.signal("SIGINT");
  expect(await service.ended).toBe(0);
  expect(service.log().at(-1)).toMatchObject({ msg: "stopped" });
  // The sum of refused calls, which is logged each second, is not lost.
  const lines = service.log().filter(({ reason }) => reason === "unauthenticated");
  expect(lines.reduce((sum, { count }) => sum + Number(count ?? 1), 0)).toBe(CALLS);
});

it("SIGTERM waits for calls in flight and answers them, also after a second signal", async () => {
  const fixture = await start();
  const { service, database, get, call } = fixture;
  await using lock = await lockTable(database, "charges");
  const [rest, grpc] = [get(), call()];
  await lock.waitForQueries(2);
  service.signal("SIGTERM");
  await until(10_000, () => linesOf(fixture, "stopping").length > 0);
  service.signal("SIGTERM");
  service.signal("SIGINT");
  await until(10_000, () => isClosed(service.http));
  await until(10_000, () => isClosed(`http://${service.grpc}`));
  await lock.release();
  expect(await rest).toMatchObject({ status: 200, headers: { connection: "close" } });
  expect(await grpc).toHaveProperty("response");
  expect(await service.ended).toBe(0);
  expect(linesOf(fixture, "stopping")).toHaveLength(1);
});

it("calls that take longer than STOP_GRACE_MS are cut", async () => {
  const { service, database, get, call } = await start({
    STOP_GRACE_MS: "300",
    MAX_CALL_MS: "25000",
  });
  await using lock = await lockTable(database, "charges");
  const [rest, grpc] = [get().catch(() => "cut"), call()];
  await lock.waitForQueries(2);
  service.signal("SIGTERM");
  expect(await service.ended).toBe(0);
  expect(await rest).toBe("cut");
  expect(await grpc).toMatchObject({ code: expect.stringMatching(/^(UNAVAILABLE|CANCELLED)$/) });
});

it("during STOP_LAME_DUCK_MS after SIGTERM readiness fails, and new connections are served", async () => {
  const lameDuck = 3_000;
  const fixture = await start({ STOP_LAME_DUCK_MS: `${lameDuck}` });
  const { service, client, get } = fixture;
  const statusOf = async (path: string) => (await fetch(service.admin + path)).status;
  expect(await statusOf("/readyz")).toBe(200);
  const signalled = performance.now();
  service.signal("SIGTERM");
  await until(lameDuck, async () => (await statusOf("/readyz")) === 503);
  expect(await statusOf("/livez")).toBe(200);
  expect(await checkHealth(client, "")).toBe("NOT_SERVING");
  expect(await get()).toMatchObject({ status: 200 });
  expect(await service.ended).toBe(0);
  expect(performance.now() - signalled).toBeGreaterThan(lameDuck);
  expect(linesOf(fixture, "not ready")).toMatchObject([{ level: "info", failed: ["shutdown"] }]);
});
