import { once } from "node:events";
import { Agent, get } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { GetOverviewResponseSchema, RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { exchange, listen } from "./gateway.ts";

const overview = create(GetOverviewResponseSchema);
const PATH = "/api/provider/revenue";
const CONNECT_PATH = "/revenue.v1.RevenueService/GetOverview?encoding=json&message={}";

function request(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
}

/** The duration of a stop in ms. */
async function durationOf(stopping: Promise<void>): Promise<number> {
  const start = performance.now();
  await stopping;
  return performance.now() - start;
}

test("a gateway without connections stops after the lame-duck periods", async () => {
  const { stop } = await listen(RevenueService, () => overview);
  expect(await durationOf(stop(5000))).toBeLessThan(1000);
});

test.each([PATH, CONNECT_PATH])(
  "a request in flight is finished, and its response closes the connection (%s)",
  async (path) => {
    const response = Promise.withResolvers<typeof overview>();
    const { stop, port, calls } = await listen(RevenueService, () => response.promise);
    const raw = exchange(port, request(path));
    await expect.poll(() => calls.length).toBe(1);
    const stopping = stop(5000);
    await sleep(400);
    response.resolve(overview);
    expect(await raw).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*connection: close\r\n/i);
    await stopping;
  },
);

test("new connections are served during the first lame-duck period, and refused later", async () => {
  const { stop, port } = await listen(RevenueService, () => overview);
  const stopping = stop(5000);
  const closing = request(PATH).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
  expect(await exchange(port, closing)).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  await stopping;
  await expect(exchange(port, request(PATH))).rejects.toThrow("ECONNREFUSED");
});

// Fails if closing the listener also closes idle connections, as `http.Server.close` does.
test.each([PATH, "/nothing", CONNECT_PATH])(
  "an idle kept-alive connection outlives the listener, for one last response (%s)",
  async (path) => {
    const { server, stop, port } = await listen(RevenueService, () => overview);
    const client = connect(port, "127.0.0.1").setEncoding("utf8");
    client.write(request(PATH));
    const [first] = await once(client, "data");
    expect(first).not.toMatch(/connection: close/i);
    const stopping = stop(5000);
    await expect.poll(() => server.listening).toBe(false);
    client.write(request(path));
    const [second] = await Promise.race([once(client, "data"), once(client, "close")]);
    expect(second).toMatch(/\r\nconnection: close\r\n/i);
    await stopping;
  },
);

test("idle connections, and those that never sent a byte, do not delay the stop", async () => {
  const { stop, port } = await listen(RevenueService, () => overview);
  const silent = connect(port, "127.0.0.1");
  const idle = connect(port, "127.0.0.1");
  idle.write(request(PATH));
  await Promise.all([once(silent, "connect"), once(idle, "data")]);
  expect(await durationOf(stop(5000))).toBeLessThan(1000);
});

test("a slow reader gets its complete response, and its connection is closed after it", async () => {
  const wide = create(GetOverviewResponseSchema, {
    serverRevenue: Array.from({ length: 200 }, () => ({ serverName: "x".repeat(200_000) })),
  });
  const { stop, port } = await listen(RevenueService, () => wide);
  const client = connect(port, "127.0.0.1");
  onTestFinished(() => {
    client.destroy();
  });
  client.write(request(PATH));
  await once(client, "readable");
  const stopping = durationOf(stop(10_000));
  await sleep(600);
  const raw = Buffer.concat(await client.toArray()).toString();
  expect(raw.length - raw.indexOf("{")).toBe(Number(/content-length: (\d+)/.exec(raw)?.[1]));
  expect(await stopping).toBeLessThan(5000);
});

test("a request that is unfinished after the grace period is aborted", async () => {
  const { stop, port, calls } = await listen(RevenueService, () => new Promise(() => {}));
  const raw = exchange(port, request(PATH));
  await expect.poll(() => calls.length).toBe(1);
  const duration = await durationOf(stop(500));
  expect(duration).toBeGreaterThan(450);
  expect(duration).toBeLessThan(1500);
  expect(await raw).toBe("");
  await expect.poll(() => calls[0]?.signal.aborted).toBe(true);
});

test("under load, every call that was run is answered", async () => {
  const { stop, url, calls } = await listen(RevenueService, async () => {
    await sleep(5);
    return overview;
  });
  const agent = new Agent({ keepAlive: true });
  let responses = 0;
  /** Sends requests until it cannot connect. The kernel may reset a connection not yet accepted. */
  const sendRequests = async (): Promise<void> => {
    try {
      for (;;) {
        const [response] = await once(get(`${url}${PATH}`, { agent }), "response");
        await response.toArray();
        responses++;
      }
    } catch (error) {
      expect(error).toMatchObject({ code: expect.stringMatching(/^ECONN(REFUSED|RESET)$/) });
    }
  };
  const clients = Array.from({ length: 16 }, sendRequests);
  await sleep(100);
  await Promise.all([stop(5000), ...clients]);
  agent.destroy();
  expect(responses).toBeGreaterThan(100);
  expect(responses).toBe(calls.length);
});
