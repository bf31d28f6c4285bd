/** SIGTERM and SIGINT: calls in flight are finished, and nothing else delays the exit. */
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { callGrpc, grpcClient } from "../../support/clients/grpc-client.ts";
import { watchHealth } from "../../support/clients/health.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** Runs a test with a service of its own. */
async function withService(test: (fixture: Fixture) => Promise<void>): Promise<void> {
  const fixture = await createFixture(smallLedger);
  try {
    await test(fixture);
  } finally {
    await fixture.dispose();
  }
}

function get({ service, key }: Fixture, agent?: Agent) {
  const request = { target: paths.GetOverview, headers: withKey(key) };
  return rawHttp(service.http, { ...request, ...(agent ? { agent } : {}) });
}

const keepAlive = () => new Agent({ keepAlive: true, maxSockets: 1 });

/** Sends the signal and waits for the exit. The duration is in milliseconds. */
async function stop({ service }: Fixture, signal: NodeJS.Signals, meanwhile = async () => {}) {
  const start = performance.now();
  service.signal(signal);
  await meanwhile();
  const ending = await service.ended;
  return { ending, duration: performance.now() - start };
}

const stoppingLines = ({ service }: Fixture) =>
  service.log().filter(({ msg }) => msg === "stopping");

describe("without calls in flight", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("%s ends the service with exit code 0", (signal) =>
    withService(async (fixture) => {
      await get(fixture);
      const { ending, duration } = await stop(fixture, signal);
      expect(ending).toBe(0);
      expect(duration).toBeLessThan(2_000);
      expect(fixture.service.log().at(-1)).toMatchObject({ msg: "stopped" });
    }),
  );

  it("the sums of refused calls are logged before the end", () =>
    withService(async (fixture) => {
      const CALLS = 50;
      const refused = { target: paths.GetOverview, headers: [["x-api-key", "unknown"]] } as const;
      const calls = Array.from({ length: CALLS }, () => rawHttp(fixture.service.http, refused));
      await Promise.all(calls);
      await stop(fixture, "SIGTERM");
      const lines = fixture.service.log().filter(({ reason }) => reason === "unauthenticated");
      const logged = lines.reduce((sum, { count }) => sum + Number(count ?? 1), 0);
      expect(logged).toBe(CALLS);
    }));

  it("an idle keep-alive connection and an open health watch do not delay the exit", () =>
    withService(async (fixture) => {
      const agent = keepAlive();
      const client = grpcClient(fixture.service.grpc);
      await get(fixture, agent);
      const watch = watchHealth(client, "");
      await until(10_000, () => watch.statuses.length > 0);
      const { ending, duration } = await stop(fixture, "SIGTERM");
      expect(ending).toBe(0);
      expect(duration).toBeLessThan(3_000);
      agent.destroy();
      client.close();
    }));
});

// Concurrent because most of their time is waiting.
describe.concurrent("with calls in flight", () => {
  it("the service waits for them and answers them, also after a second signal", () =>
    withService(async (fixture) => {
      await using lock = await lockTable(fixture.database, "charges");
      const agent = keepAlive();
      const client = grpcClient(fixture.service.grpc);
      const rest = get(fixture, agent);
      const grpc = callGrpc(client, { method: "GetOverview", headers: withKey(fixture.key) });
      await lock.waitForQueries(2);
      const { ending, duration } = await stop(fixture, "SIGTERM", async () => {
        await until(10_000, () => stoppingLines(fixture).length > 0);
        fixture.service.signal("SIGTERM");
        fixture.service.signal("SIGINT");
        // By then a service that does not wait for calls has exited.
        await sleep(1_500);
        await lock.release();
        expect(await rest).toMatchObject({ status: 200, headers: { connection: "close" } });
        expect(await grpc).toHaveProperty("response");
      });
      expect(ending).toBe(0);
      expect(duration).toBeLessThan(5_000);
      expect(stoppingLines(fixture)).toHaveLength(1);
      client.close();
      agent.destroy();
    }));

  it("the service cuts those that take longer than the grace period of 10 s", () =>
    withService(async (fixture) => {
      await using lock = await lockTable(fixture.database, "charges");
      const client = grpcClient(fixture.service.grpc);
      const rest = get(fixture).then(
        ({ status }) => `${status}`,
        () => "cut",
      );
      const grpc = callGrpc(client, { method: "GetOverview", headers: withKey(fixture.key) });
      await lock.waitForQueries(2);
      const { ending, duration } = await stop(fixture, "SIGTERM");
      expect(ending).toBe(0);
      expect(duration).toBeLessThan(11_500);
      expect(["500", "cut"]).toContain(await rest);
      expect(await grpc).toHaveProperty("code");
      client.close();
    }));
});
