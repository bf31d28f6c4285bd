import { once } from "node:events";
import { Agent, get } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { GetOverviewResponseSchema, RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { stop } from "../../../src/gateway/shutdown.ts";
import { exchange, listen } from "./gateway.ts";

const overview = create(GetOverviewResponseSchema);
const PATH = "/api/provider/revenue";
const REQUEST = `GET ${PATH} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** Ends the gateway; resolves to how long that took, in milliseconds. */
async function timed(stopping: Promise<void>): Promise<number> {
  const start = performance.now();
  await stopping;
  return performance.now() - start;
}

test("without connections it is over after the lame-duck time", async () => {
  const { app } = await listen(RevenueService, () => overview);
  expect(await timed(stop(app, 5000))).toBeLessThan(1000);
});

test("what is in flight is finished, and its connection closed with the answer", async () => {
  const answering = Promise.withResolvers<typeof overview>();
  const { app, port, calls } = await listen(RevenueService, () => answering.promise);
  const raw = exchange(port, REQUEST);
  await expect.poll(() => calls.length).toBe(1);
  const stopping = stop(app, 5000);
  await sleep(400);
  answering.resolve(overview);
  expect(await raw).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\nconnection: close\r\n/s);
  await stopping;
});

test("for a short while new connections are still served", async () => {
  const { app, port } = await listen(RevenueService, () => overview);
  const stopping = stop(app, 5000);
  const raw = await exchange(port, REQUEST.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
  expect(raw).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  await stopping;
  await expect(exchange(port, REQUEST)).rejects.toThrow("ECONNREFUSED");
});

test.each([PATH, "/nothing", "/revenue.v1.RevenueService/GetOverview?encoding=json&message={}"])(
  "then a kept-alive connection is served once more, and told to close (%s)",
  async (path) => {
    const { app, port } = await listen(RevenueService, () => overview);
    const kept = connect(port, "127.0.0.1").setEncoding("utf8");
    kept.write(REQUEST);
    const [first] = await once(kept, "data");
    expect(first).not.toMatch(/connection: close/i);
    const stopping = stop(app, 5000);
    await expect.poll(() => app.server.listening).toBe(false);
    kept.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const [second] = await once(kept, "data");
    expect(second).toMatch(/\r\nconnection: close\r\n/i);
    await stopping;
  },
);

test("idle kept-alive connections and those that never sent a byte do not hold it up", async () => {
  const { app, port } = await listen(RevenueService, () => overview);
  const silent = connect(port, "127.0.0.1");
  const kept = connect(port, "127.0.0.1");
  kept.write(REQUEST);
  await Promise.all([once(silent, "connect"), once(kept, "data")]);
  expect(await timed(stop(app, 5000))).toBeLessThan(1000);
});

test("what is not finished in time is cut off", async () => {
  const { app, port, calls } = await listen(RevenueService, () => new Promise(() => {}));
  const raw = exchange(port, REQUEST);
  await expect.poll(() => calls.length).toBe(1);
  const took = await timed(stop(app, 500));
  expect(took).toBeGreaterThan(450);
  expect(took).toBeLessThan(1500);
  expect(await raw).toBe("");
  await expect.poll(() => calls[0]?.signal.aborted).toBe(true);
});

test("under load every request that was taken on is answered", async () => {
  const { app, url, calls } = await listen(RevenueService, async () => {
    await sleep(5);
    return overview;
  });
  const agent = new Agent({ keepAlive: true });
  let answered = 0;
  /** Asks until it cannot connect; the kernel resets what it had not handed over by then. */
  const ask = async (): Promise<void> => {
    try {
      for (;;) {
        const [response] = await once(get(`${url}${PATH}`, { agent }), "response");
        await response.toArray();
        answered++;
      }
    } catch (error) {
      expect(error).toMatchObject({ code: expect.stringMatching(/^ECONN(REFUSED|RESET)$/) });
    }
  };
  const clients = Array.from({ length: 16 }, ask);
  await sleep(100);
  await Promise.all([stop(app, 5000), ...clients]);
  agent.destroy();
  expect(answered).toBeGreaterThan(100);
  expect(answered).toBe(calls.length);
});
