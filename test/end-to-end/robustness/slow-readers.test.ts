/** Clients that request much, on both ports, and read little or nothing of it. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { GetServerBreakdownRequestSchema } from "../../../gen/revenue/v1/revenue_pb.ts";
import {
  frame,
  headers,
  NO_FLOW_CONTROL,
  PREFACE,
  SETTINGS_ACK,
} from "../../support/clients/http2-frames.ts";
import { frame as grpcMessage } from "../../support/clients/raw-clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { paths, withKey } from "../../support/request.ts";
import { request } from "./traffic/exchanges.ts";
import { createTarget, KEY, type Target } from "./traffic/target.ts";
import { wideLedger } from "./traffic/wide-ledger.ts";

/** The most memory that the process may ever take, in MiB. */
const MAX_MEMORY = 600;
/** How long the connections stay open, in ms. */
const DURATION = 8_000;
const START = "2024-03-01";
const BREAKDOWN = `${paths.GetServerBreakdown}?startDate=${START}`;
/** How much a slow reader reads each second, in bytes. */
const BYTES_PER_SECOND = 1024;

let target: Target;
beforeAll(async () => {
  target = await createTarget({}, wideLedger);
});
afterAll(() => target?.dispose());

/** The end of a period that no other call asks for, so that no two share a response of a megabyte. */
let periods = 0;
const nextEnd = () => new Date(Date.UTC(2024, 3, 1, 0, 0, periods++)).toISOString();

/** 100 calls on a connection. */
function grpcCalls(): Buffer {
  const calls = Array.from({ length: 100 }, (_, index) => {
    const id = 1 + 2 * index;
    const period = create(GetServerBreakdownRequestSchema, {
      startDate: START,
      endDate: nextEnd(),
    });
    const message = grpcMessage(toBinary(GetServerBreakdownRequestSchema, period));
    const path = "/revenue.v1.RevenueService/GetServerBreakdown";
    return Buffer.concat([headers(id, false, path, KEY), frame(0, 1, id, message)]);
  });
  return Buffer.concat([PREFACE, NO_FLOW_CONTROL, SETTINGS_ACK, ...calls]);
}

function open(protocol: "http" | "grpc", bytes: Buffer): Socket {
  const socket = connect(target.port(protocol), "127.0.0.1").on("error", () => {});
  socket.pause().write(bytes);
  onTestFinished(() => {
    socket.resetAndDestroy();
  });
  return socket;
}

it("responses that nobody reads take bounded memory, and other callers are answered", async () => {
  for (let count = 0; count < 100; count++) {
    open("http", request(`GET ${BREAKDOWN}&endDate=${nextEnd()}`, [`X-API-Key: ${KEY}`]));
  }
  const slow = Array.from({ length: 8 }, () => open("grpc", grpcCalls())).slice(0, 4);
  const reads = setInterval(() => {
    for (const reader of slow) reader.read(BYTES_PER_SECOND);
  }, 1_000);
  onTestFinished(() => clearInterval(reads));
  const statuses = new Set<number>();
  for (const start = performance.now(); performance.now() < start + DURATION; ) {
    const headers = withKey(KEY);
    const { status } = await rawHttp(target.service().http, { target: BREAKDOWN, headers });
    statuses.add(status);
    await sleep(100);
  }
  // Beyond the calls in flight that a provider may have, or that find a connection in time, it is refused.
  expect(statuses).toContain(200);
  expect([...statuses.difference(new Set([200, 429, 503]))]).toEqual([]);
  await target.expectUnharmed("responses that nobody reads");
  expect(await target.peakMemory()).toBeLessThan(MAX_MEMORY);
});
