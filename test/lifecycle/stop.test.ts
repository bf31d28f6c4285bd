/** SIGTERM and SIGINT: what is in flight is finished, whatever else is still connected. */
import { Agent } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callGrpc, grpcClient } from "../service/grpc-door.ts";
import { watchHealth } from "../service/health.ts";
import { lockCharges } from "../service/held-calls.ts";
import { smallLedger } from "../service/ledger.ts";
import { until } from "../service/poll.ts";
import { withKey } from "../service/question.ts";
import { rawHttp } from "../service/raw-http.ts";
import { type Stage, setStage } from "../service/stage.ts";

let stage: Stage;
beforeEach(async () => {
  stage = await setStage(smallLedger);
});
afterEach(() => stage?.strike());

const TARGET = "/api/provider/revenue";

function get(agent?: Agent) {
  const request = { target: TARGET, headers: withKey(stage.key), ...(agent ? { agent } : {}) };
  return rawHttp(stage.service.http, request);
}

function kept(): Agent {
  return new Agent({ keepAlive: true, maxSockets: 1 });
}

/** Sends the signal and tells how the process ended, and after how many milliseconds. */
async function ends(signal: NodeJS.Signals, meanwhile = async () => {}) {
  const began = performance.now();
  stage.service.signal(signal);
  await meanwhile();
  const ending = await stage.service.ended;
  return { ending, took: performance.now() - began };
}

it.each(["SIGTERM", "SIGINT"] as const)(
  "%s ends an idle service at once, with code 0",
  async (signal) => {
    await get();
    const { ending, took } = await ends(signal);
    expect(ending).toBe(0);
    expect(took).toBeLessThan(2_000);
    const messages = stage.service.log().map(({ msg }) => msg);
    expect(messages.at(-1)).toBe("stopped");
  },
);

it("an idle kept-alive connection and an open health watch do not hold it up", async () => {
  const agent = kept();
  const client = grpcClient(stage.service.grpc);
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
    const lock = await lockCharges(stage.database);
    const agent = kept();
    const client = grpcClient(stage.service.grpc);
    const rest = get(agent);
    const grpc = callGrpc(client, { method: "GetOverview", headers: withKey(stage.key) });
    await lock.untilWaiting(2);
    const { ending, took } = await ends("SIGTERM", async () => {
      await until(2_000, () =>
        stage.service.log().some(({ msg }) => `${msg}`.startsWith("stopping")),
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
    const lock = await lockCharges(stage.database);
    const rest = get();
    await lock.untilWaiting(1);
    const { ending } = await ends("SIGTERM", async () => {
      stage.service.signal("SIGTERM");
      stage.service.signal("SIGINT");
      await until(2_000, () =>
        stage.service.log().some(({ msg }) => `${msg}`.startsWith("stopping")),
      );
      await lock.release();
      expect((await rest).status).toBe(200);
    });
    expect(ending).toBe(0);
    expect(stage.service.log().filter(({ msg }) => `${msg}`.startsWith("stopping"))).toHaveLength(
      1,
    );
  });

  it("cuts what takes longer than the grace of 10 s", async () => {
    const lock = await lockCharges(stage.database);
    const client = grpcClient(stage.service.grpc);
    const rest = get().then(
      ({ status }) => `${status}`,
      () => "cut",
    );
    const grpc = callGrpc(client, { method: "GetOverview", headers: withKey(stage.key) });
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
