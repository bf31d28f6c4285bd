/** Floods of the gRPC port, from 200 connections of one address. */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { callGrpc, grpcClient } from "../../support/clients/grpc-client.ts";
import {
  frame,
  headers,
  NO_FLOW_CONTROL,
  PREFACE,
  reset,
  SETTINGS,
  SETTINGS_ACK,
} from "../../support/clients/http2-frames.ts";
import { frame as grpcMessage } from "../../support/clients/raw-clients.ts";
import { withKey } from "../../support/request.ts";
import { createTarget, KEY, type Target } from "./traffic/target.ts";

const CONNECTIONS = 200;
/** How long a flood lasts, in ms. */
const DURATION = 1_500;
/** The most memory that the process may ever take, in MiB. */
const MAX_MEMORY = 600;
/** Of another caller's calls; a machine that is not busy needs a fifth of it. In ms. */
const LONGEST_CALL = 10_000;

const WATCH = "/grpc.health.v1.Health/Watch";
const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const EMPTY = grpcMessage(Buffer.alloc(0));
/** A reflection request for the file that declares RevenueService. */
const QUESTION = grpcMessage(
  new BinaryWriter().tag(4, WireType.LengthDelimited).string("revenue.v1.RevenueService").finish(),
);
const PING = frame(6, 0, 0, Buffer.alloc(8));

let target: Target;
beforeAll(async () => {
  target = await createTarget();
});
afterAll(() => target?.dispose());
beforeEach(() => target.restart());

/** A call with an empty message. */
const call = (id: number, path?: string, key?: string) => [
  headers(id, false, path, key),
  frame(0, 1, id, EMPTY),
];

/** Connects, sends 250 times what `frames` returns for the next stream, and so on until `end`. */
function flood(end: number, reads: boolean, frames: (id: number) => readonly Buffer[]): void {
  if (performance.now() > end) return;
  const socket = connect(target.port("grpc"), "127.0.0.1").on("error", () => {});
  if (reads) socket.resume();
  else socket.pause();
  socket.write(Buffer.concat([PREFACE, NO_FLOW_CONTROL, SETTINGS_ACK]));
  let id = -1;
  const send = () => {
    if (socket.destroyed) return;
    if (performance.now() > end) {
      socket.destroy();
      return;
    }
    const burst = Array.from({ length: 250 }, () => {
      id += 2;
      return frames(id);
    });
    if (socket.write(Buffer.concat(burst.flat()))) setTimeout(send, 5);
    else socket.once("drain", send);
  };
  send();
  setTimeout(() => socket.destroy(), Math.max(end - performance.now(), 0));
  socket.once("close", () => setTimeout(() => flood(end, reads, frames), 5));
}

it.each<[string, (id: number) => readonly Buffer[], reads?: boolean]>([
  ["streams without a message", (id) => [headers(id, false)]],
  ["calls without a key", (id) => call(id)],
  ["calls with a key", (id) => call(id, undefined, KEY)],
  ["cancelled calls", (id) => [...call(id), reset(id)]],
  ["health watches", (id) => call(id, WATCH)],
  ["reflection", (id) => [headers(id, false, REFLECTION), frame(0, 0, id, QUESTION)]],
  [
    "reflection, unread",
    (id) => [headers(id, false, REFLECTION), frame(0, 0, id, QUESTION)],
    false,
  ],
  ["unknown methods", (id) => call(id, "/a.B/C")],
  ["SETTINGS", () => [SETTINGS]],
  ["PING", () => [PING]],
  ["PING, unread", () => [PING], false],
])("beside a flood of %s, other callers are answered", async (_, frames, reads = true) => {
  const client = grpcClient(target.service().grpc);
  const headers = withKey(KEY);
  const options = { method: "GetOverview", headers, timeout: LONGEST_CALL } as const;
  const outcomes = [await callGrpc(client, options)];
  const end = performance.now() + DURATION;
  for (let count = 0; count < CONNECTIONS; count++) flood(end, reads, frames);
  while (performance.now() < end) {
    outcomes.push(await callGrpc(client, options));
    await sleep(50);
  }
  client.close();
  expect(outcomes.filter((outcome) => !("response" in outcome))).toEqual([]);
  await target.expectUnharmed("the flood");
  expect(await target.peakMemory()).toBeLessThan(MAX_MEMORY);
});
