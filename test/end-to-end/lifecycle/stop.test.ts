/** SIGTERM and SIGINT: what is in flight is finished, whatever else is still connected. */
import { Agent } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callGrpc, grpcClient } from "../../support/clients/grpc-client.ts";
import { watchHealth } from "../../support/clients/health.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { until } from "../../support/poll.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { lockCharges } from "../../support/service/held-calls.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture(smallLedger);
});
afterEach(() => fixture?.dispose());

const TARGET = "/api/provider/revenue";

function get(agent?: Agent) {
  const request = { target: TARGET, headers: withKey(fixture.key), ...(agent ? { agent } : {}) };
  return rawHttp(fixture.service.http, request);
}

function kept(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 });
}

/** Sends the signal and tells how the process ended, and after how many milliseconds. */
async function ends(signal: NodeJS.Signals, meanwhile = async () => {}) {
  const began = performance.now();
  fixture.service.signal(signal);
  await meanwhile();
  const ending = await fixture.service.ended;
  return { ending, took: performance.now() - began };
}

it.each(["SIGTERM", "SIGINT"] as const)(
  "%s ends an idle service at once, with code 0",
  async (signal) => {
    await get();
    const { ending, took } = await ends(signal);
    expect(ending).toBe(0);
    expect(took).toBeLessThan(2_000);
    const messages = fixture.service.log().map(({ msg }) => msg);
    expect(messages.at(-1)).toBe("stopped");
  },
);

it("an idle kept-alive connection and an open health watch do not hold it up", async () => {
  const agent = kept();
  const client = grpcClient(fixture.service.grpc);
  await get(agent);
  const watch = watchHealth(client, "");
  await until(2_000, () => watch.seen.length > 0);
  const { ending, took } = await ends("SIGTERM");
  expect(ending).toBe(0);
  expect(took).toBeLessThan(3_000);
  agent.destroy();
  client.close();
});

describe("with calls in flight", () => {
  it("waits for them, and they are answered", async () => {
    const lock = await lockCharges(fixture.database);
    const agent = kept();
    const client = grpcClient(fixture.service.grpc);
    const rest = get(agent);
    const grpc = callGrpc(client, { method: "GetOverview", headers: withKey(fixture.key) });
    await lock.untilWaiting(2);
    const { ending, took } = await ends("SIGTERM", async () => {
      await until(2_000, () =>
        fixture.service.log().some(({ msg }) => `${msg}`.startsWith("stopping")),
      );
      // Long after everything that does not wait for calls would be gone.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await lock.release();
      expect(await rest).toMatchObject({ status: 200, headers: { connection: "close" } });
      expect(await grpc).toHaveProperty("answer");
    });
    expect(ending).toBe(0);
    expect(took).toBeLessThan(5_000);
    client.close();
    agent.destroy();
  });

  it("a second signal changes nothing", async () => {
    const lock = await lockCharges(fixture.database);
    const rest = get();
    await lock.untilWaiting(1);
    const { ending } = await ends("SIGTERM", async () => {
      fixture.service.signal("SIGTERM");
      fixture.service.signal("SIGINT");
      await until(2_000, () =>
        fixture.service.log().some(({ msg }) => `${msg}`.startsWith("stopping")),
      );
      await lock.release();
      expect((await rest).status).toBe(200);
    });
    expect(ending).toBe(0);
    expect(fixture.service.log().filter(({ msg }) => `${msg}`.startsWith("stopping"))).toHaveLength(
      1,
    );
  });

  it("cuts what takes longer than the grace of 10 s", async () => {
    const lock = await lockCharges(fixture.database);
    const client = grpcClient(fixture.service.grpc);
    const rest = get().then(
      ({ status }) => `${status}`,
      () => "cut",
    );
    const grpc = callGrpc(client, { method: "GetOverview", headers: withKey(fixture.key) });
    await lock.untilWaiting(2);
    const { ending, took } = await ends("SIGTERM");
    expect(ending).toBe(0);
    expect(took).toBeLessThan(11_500);
    expect(["500", "cut"]).toContain(await rest);
    expect(await grpc).toHaveProperty("code");
    await lock.release();
    client.close();
  });
});
