/**
 * Floods of the gRPC port from many connections. The service has a small heap, which a flood would
 * fill if it were kept: then the process ends. The limits themselves are tested in test/unit/grpc.
 */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import { callGrpc, grpcClient } from "../../support/clients/grpc-client.ts";
import {
  frame,
  NO_FLOW_CONTROL,
  PREFACE,
  reset,
  SETTINGS_ACK,
} from "../../support/clients/http2-frames.ts";
import { until } from "../../support/poll.ts";
import { withKey } from "../../support/request.ts";
import { call, OVERVIEW } from "./exchanges.ts";
import { createTarget, KEY, type Target } from "./target.ts";

const CONNECTIONS = 20;
/** The heap of the service, in MiB: far less than the flood would take. */
const HEAP = 96;
/** How many calls another caller makes meanwhile. */
const CALLS = 5;

const WATCH = "/grpc.health.v1.Health/Watch";
const EMPTY = Buffer.alloc(0);
const PING = frame(6, 0, 0, Buffer.alloc(8));

let target: Target;
beforeAll(async () => {
  target = await createTarget(HEAP);
});
afterAll(() => target?.dispose());

/** What a connection sends. */
interface Flood {
  /** The frames of a stream. */
  readonly frames: (id: number) => readonly Buffer[];
  /** How many streams at once, and how often. */
  readonly streams: readonly [perBurst: number, bursts: number];
  /** Whether it reads what the service sends. */
  readonly reads: boolean;
}

/** Sends the bursts over a new connection. Resolves to it, when all is sent or when it was closed. */
function flood({ frames, streams: [perBurst, bursts], reads }: Flood): Promise<Socket> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const socket = connect(target.port("grpc"), "127.0.0.1").on("error", () => {});
  onTestFinished(() => void socket.resetAndDestroy());
  if (reads) socket.resume();
  else socket.pause();
  socket.write(Buffer.concat([PREFACE, NO_FLOW_CONTROL, SETTINGS_ACK]));
  let id = 1;
  let left = bursts;
  const send = () => {
    if (left-- === 0 || socket.destroyed) return resolve(socket);
    const burst = Array.from({ length: perBurst }, (_, nth) => frames(id + 2 * nth)).flat();
    id += 2 * perBurst;
    if (socket.write(Buffer.concat(burst))) setImmediate(send);
    else socket.once("drain", send);
  };
  socket.once("connect", send).once("close", () => resolve(socket));
  return promise;
}

/** Nearly as many as a connection, and all together, may have at once. */
const OPEN = { streams: [90, 1], reads: true } as const;
const MANY = { streams: [125, 4], reads: true } as const;

it.each<[string, Flood]>([
  [
    "calls whose responses are not read",
    { ...OPEN, frames: (id) => call(id, OVERVIEW, EMPTY, KEY), reads: false },
  ],
  ["cancelled calls", { ...MANY, frames: (id) => [...call(id, OVERVIEW, EMPTY), reset(id)] }],
  ["health watches", { ...OPEN, frames: (id) => call(id, WATCH, EMPTY) }],
  ["PING that is not read", { ...MANY, frames: () => [PING], reads: false }],
])("beside a flood of %s, another caller is answered", async (_, sent) => {
  const client = grpcClient(target.service.grpc);
  onTestFinished(() => client.close());
  // Of another provider: that of the flood has as many calls in flight as it may have.
  const headers = withKey(await target.issueKey("2"));
  const options = { method: "GetOverview", headers, timeout: TIME_LIMIT } as const;
  await callGrpc(client, options);
  const floods = Promise.all(Array.from({ length: CONNECTIONS }, () => flood(sent)));
  const isAnswered = async () => {
    const outcome = await callGrpc(client, options);
    // The service stood still, and this call was one too many of those that had come meanwhile.
    if ("code" in outcome) expect(outcome.code).toMatch(/^(UNAVAILABLE|DEADLINE_EXCEEDED)$/);
    return "response" in outcome;
  };
  for (let count = 0; count < CALLS; count++) await until(isAnswered);
  // A connection that reads nothing may not be read from either.
  const sockets = sent.reads ? await floods : [];
  await target.expectUnharmed("the flood");
  // What a connection may have open at once was not refused.
  if (sent.streams === OPEN.streams) {
    for (const { destroyed } of sockets) expect(destroyed).toBe(false);
  }
});
