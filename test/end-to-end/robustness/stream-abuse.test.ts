/** gRPC streams that exhaust the memory of a service that buffers without bounds. */
import { connect } from "node:http2";
import { connect as connectTcp } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { watchHealth } from "../../support/clients/health.ts";
import { headers, PREFACE, reset, SETTINGS } from "../../support/clients/http2-frames.ts";
import { frame } from "../../support/clients/raw-clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { until } from "../../support/poll.ts";
import { withKey } from "../../support/request.ts";
import { attack, inParallel } from "./traffic/connections.ts";
import { createTarget, KEY, type Target } from "./traffic/target.ts";

/** The most memory that the process may ever take, in MiB. */
const MAX_MEMORY = 300;
/** How long the client sends requests, in milliseconds. */
const DURATION = 6_000;
/** The longest that another call may take meanwhile, in milliseconds. */
const MAX_CALL_DURATION = 1_000;

let target: Target;
beforeAll(async () => {
  target = await createTarget();
});
afterAll(() => target?.dispose());
beforeEach(() => target.restartIfHarmed());

it("2,000 cancelled health watches with names of 60 KB take little memory", async () => {
  const client = grpcClient(target.service().grpc);
  const name = "x".repeat(60_000);
  await inParallel(Array(2_000).keys(), 20, async (index) => {
    const watch = watchHealth(client, `${index}${name}`);
    await Promise.race([watch.ended, until(10_000, () => watch.statuses.length > 0)]);
    watch.cancel();
    await watch.ended;
  });
  client.close();
  await target.expectUnharmed("health watches");
  expect(await target.peakMemory()).toBeLessThan(MAX_MEMORY);
});

/** Makes a call every tenth of a second. Resolves to their durations in milliseconds. */
async function callDurations(): Promise<number[]> {
  const durations: number[] = [];
  for (const start = performance.now(); performance.now() < start + DURATION; ) {
    const sent = performance.now();
    const headers = withKey(KEY);
    await rawHttp(target.service().http, { target: "/api/provider/revenue", headers });
    durations.push(performance.now() - sent);
    await sleep(100);
  }
  return durations;
}

/** A reflection request for the file that declares RevenueService. */
const REQUEST = frame(
  new BinaryWriter().tag(4, WireType.LengthDelimited).string("revenue.v1.RevenueService").finish(),
);
const REQUESTS = Buffer.concat(Array<Buffer>(200).fill(REQUEST));

/** Sends reflection requests on one stream, without reading, until it is closed. */
function floodReflection(version: string): { close(): void } {
  const session = connect(`http://${target.service().grpc}`).on("error", () => {});
  const stream = session.request({
    ":method": "POST",
    ":path": `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.on("error", () => {});
  const send = () => {
    if (!stream.destroyed) stream.write(REQUESTS, send);
  };
  send();
  return { close: () => session.destroy() };
}

/** Opens 10,000 streams without a message on each connection. Resolves to `callDurations`. */
async function openWithoutMessage(connections: number): Promise<number[]> {
  const ids = Array.from({ length: 10_000 }, (_, index) => 1 + 2 * index);
  const start = Buffer.concat([PREFACE, SETTINGS, ...ids.map((id) => headers(id, false))]);
  const sockets = Array.from({ length: connections }, () =>
    connectTcp(target.port("grpc"), "127.0.0.1").on("error", () => {}),
  );
  for (const socket of sockets) socket.resume().write(start);
  const durations = await callDurations();
  for (const socket of sockets) socket.destroy();
  return durations;
}

it("100,000 streams without a message take little memory and delay no call", async () => {
  const durations = await openWithoutMessage(10);
  expect(Math.max(...durations)).toBeLessThan(MAX_CALL_DURATION);
  await target.expectUnharmed("streams without a message");
  expect(await target.peakMemory()).toBeLessThan(MAX_MEMORY);
});

it("cancelled streams before SETTINGS are acknowledged do not end the process", async () => {
  const ids = Array.from({ length: 10_000 }, (_, index) => 1 + 2 * index);
  const cancelled = ids.flatMap((id) => [headers(id, true), reset(id)]);
  const bytes = Buffer.concat([PREFACE, SETTINGS, ...cancelled]);
  await inParallel(Array(50).keys(), 25, () =>
    attack(target.port("grpc"), bytes, { kind: "reset", after: 500 }),
  );
  await target.expectUnharmed("cancelled streams");
});

it("reflection requests without end, never read, take little memory and delay no call", async () => {
  const floods = ["v1", "v1alpha"].map(floodReflection);
  const durations = await callDurations();
  for (const flood of floods) flood.close();
  expect(Math.max(...durations)).toBeLessThan(MAX_CALL_DURATION);
  await target.expectUnharmed("reflection");
  expect(await target.peakMemory()).toBeLessThan(MAX_MEMORY);
});
