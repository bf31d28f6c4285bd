/** The stop of the HTTP port. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import { GetOverviewResponseSchema, RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { exchange, listen, open, overview } from "./gateway.ts";

const PATH = "/api/provider/revenue";
const CONNECT_PATH = "/revenue.v1.RevenueService/GetOverview?encoding=json&message={}";
/** Longer than any test may take, in ms: a stop that uses it up fails. */
const GRACE = 3 * TIME_LIMIT;

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

// Fails if closing the listener also closes idle connections, as `http.Server.close` does.
test("idle connections outlive the listener, each for one last response, and do not delay the stop; new ones are refused", async () => {
  const { stop, port } = await listen(RevenueService, () => overview);
  const clients = Array.from({ length: 4 }, () => open(port).setEncoding("utf8"));
  for (const client of clients) {
    client.write(request(PATH));
    expect((await once(client, "data"))[0]).not.toMatch(/connection: close/i);
  }
  const stopping = stop(GRACE);
  // The fourth sends nothing more.
  const last = [PATH, "/nothing", CONNECT_PATH].map(async (path, index) => {
    const client = clients[index] as Socket;
    client.write(request(path));
    return Promise.race([once(client, "data"), once(client, "close")]);
  });
  // The process stands still for longer than idle connections have.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
  for (const [response] of await Promise.all(last)) {
    expect(response).toMatch(/\r\nconnection: close\r\n/i);
  }
  await stopping;
  await expect(exchange(port, request(PATH))).rejects.toThrow("ECONNREFUSED");
});

test("a slow reader gets its complete response, and its connection is closed after it", async () => {
  const wide = create(GetOverviewResponseSchema, {
    serverRevenue: Array.from({ length: 50 }, () => ({ serverName: "x".repeat(200_000) })),
  });
  const { stop, port } = await listen(RevenueService, () => wide);
  // It never sends a byte. Its end is that of the time in which clients leave by themselves.
  const silent = open(port).resume();
  await once(silent, "connect");
  const client = open(port);
  client.write(request(PATH));
  await once(client, "readable");
  const stopping = stop(GRACE);
  await once(silent, "close");
  const raw = Buffer.concat(await client.toArray()).toString("latin1");
  expect(raw.length - raw.indexOf("{")).toBe(Number(/content-length: (\d+)/.exec(raw)?.[1]));
  await stopping;
});
