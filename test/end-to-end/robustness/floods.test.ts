/**
 * Floods of the gRPC port from many connections. The service has a small heap, which a flood would
 * fill if it were kept: then the process ends. The limits themselves are tested in test/unit/grpc.
 */
import { connect } from "node:net";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { callGrpc, grpcClient } from "../../support/clients/grpc-client.ts";
import {
  frame,
  NO_FLOW_CONTROL,
  PREFACE,
  reset,
  SETTINGS_ACK,
} from "../../support/clients/http2-frames.ts";
import { withKey } from "../../support/request.ts";
import { call, OVERVIEW } from "./traffic/exchanges.ts";
import { createTarget, KEY, type Target } from "./traffic/target.ts";

const CONNECTIONS = 20;
/** How often a connection sends, and how many frames or calls each time. */
const BURSTS = 8;
const PER_BURST = 125;
/** The heap of the service, in MiB: far less than the flood would take. */
const HEAP = 96;
/** How many calls another caller makes meanwhile. */
const CALLS = 10;

const WATCH = "/grpc.health.v1.Health/Watch";
const EMPTY = Buffer.alloc(0);
const PING = frame(6, 0, 0, Buffer.alloc(8));

let target: Target;
beforeAll(async () => {
  target = await createTarget(HEAP);
});
afterAll(() => target?.dispose());

/** Sends the bursts over a new connection, which stays open until the end of the test. */
function flood(reads: boolean, frames: (id: number) => Buffer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect(target.port("grpc"), "127.0.0.1").on("error", () => {});
  onTestFinished(() => void socket.resetAndDestroy());
  if (reads) socket.resume();
  else socket.pause();
  socket.write(Buffer.concat([PREFACE, NO_FLOW_CONTROL, SETTINGS_ACK]));
  let id = -1;
  let left = BURSTS;
  const send = () => {
    if (left-- === 0 || socket.destroyed) return resolve();
    const burst = Array.from({ length: PER_BURST }, () => {
      id += 2;
      return frames(id);
    });
    if (socket.write(Buffer.concat(burst))) setImmediate(send);
    else socket.once("drain", send);
  };
  socket.once("connect", send).once("close", () => resolve());
  return promise;
}

it.each<[string, (id: number) => Buffer, reads?: boolean]>([
  ["calls whose responses are not read", (id) => call(id, OVERVIEW, EMPTY, KEY), false],
  ["cancelled calls", (id) => Buffer.concat([call(id, OVERVIEW, EMPTY), reset(id)])],
  ["health watches", (id) => call(id, WATCH, EMPTY)],
  ["PING that is not read", () => PING, false],
])("beside a flood of %s, another caller is answered", async (_, frames, reads = true) => {
  const client = grpcClient(target.service.grpc);
  onTestFinished(() => client.close());
  const headers = withKey(KEY);
  const options = { method: "GetOverview", headers, timeout: 30_000 } as const;
  await callGrpc(client, options);
  const floods = Promise.all(Array.from({ length: CONNECTIONS }, () => flood(reads, frames)));
  for (let count = 0; count < CALLS; count++) {
    expect(await callGrpc(client, options)).toHaveProperty("response");
  }
  // A connection that reads nothing is not read from either.
  if (reads) await floods;
  await target.expectUnharmed("the flood");
});
