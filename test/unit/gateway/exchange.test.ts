/** The exchanges of one connection with a client that reads slowly or sends too early. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test } from "vitest";
import { GetOverviewResponseSchema, RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { until } from "../../support/poll.ts";
import { listen, type TestGateway } from "./gateway.ts";

const REQUEST = "GET /api/provider/revenue HTTP/1.1\r\nHost: a\r\n\r\n";
/** A response of 20 MB, more than the buffers between two sockets hold. */
const WIDE = create(GetOverviewResponseSchema, {
  serverRevenue: Array.from({ length: 100 }, () => ({ serverName: "x".repeat(200_000) })),
});

/** A connection of a client that does not read, until the end of the test, and the server's side of it. */
async function open({ server, port }: TestGateway): Promise<readonly [Socket, Socket]> {
  const client = connect(port, "127.0.0.1").on("error", () => {});
  onTestFinished(() => void client.destroy());
  const [socket] = await once(server, "connection");
  return [client.pause(), socket];
}

test("a connection is closed if its client does not read the response in time, even if it reads slowly", async () => {
  const events: string[] = [];
  const report = (event: string) => events.push(event);
  const limits = { responseTimeout: 300 };
  const gateway = await listen(RevenueService, () => WIDE, undefined, { limits, report });
  const [client, socket] = await open(gateway);
  client.write(REQUEST);
  const reads = setInterval(() => client.read(1), 20);
  onTestFinished(() => clearInterval(reads));
  await once(socket, "close");
  expect(events).toEqual(["responseTimeout"]);
});

test("nothing is read after a request that came too early", async () => {
  const gateway = await listen(RevenueService, () => new Promise<never>(() => {}));
  const [client, socket] = await open(gateway);
  client.write(REQUEST.repeat(2));
  await until(5_000, () => socket.bytesRead === 2 * REQUEST.length);
  client.write(REQUEST);
  // A further connection is served, so this one has had its turns.
  const [other] = await open(gateway);
  other.write(REQUEST);
  await until(5_000, () => gateway.calls.length === 2);
  expect(socket.bytesRead).toBe(2 * REQUEST.length);
});

test("a request that comes while a response is being read is handled after it", async () => {
  const gateway = await listen(RevenueService, () => WIDE);
  const [client, socket] = await open(gateway);
  client.write(REQUEST);
  await once(client, "readable");
  client.write(REQUEST);
  await until(5_000, () => socket.bytesRead === 2 * REQUEST.length);
  expect(gateway.calls).toHaveLength(1);
  client.resume();
  await until(5_000, () => gateway.calls.length === 2);
});
