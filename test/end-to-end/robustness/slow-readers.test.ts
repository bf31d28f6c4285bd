/** Clients that request much on a connection and read little or nothing of it. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { paths, withKey } from "../../support/request.ts";
import { request } from "./traffic/exchanges.ts";
import { createTarget, KEY, type Target } from "./traffic/target.ts";
import { wideLedger } from "./traffic/wide-ledger.ts";

/** The most memory that the process may ever take, in MiB. */
const MAX_MEMORY = 400;
/** How long the connections stay open, in milliseconds. */
const DURATION = 5_000;
const BREAKDOWN = `${paths.GetServerBreakdown}?startDate=2024-03-01`;
/** 240 requests for breakdowns of a megabyte, all of different periods, so that none share a result. */
const PIPELINED = Buffer.concat(
  Array.from({ length: 240 }, (_, index) => {
    const endDate = new Date(Date.UTC(2024, 3, 1, 0, index)).toISOString();
    return request(`GET ${BREAKDOWN}&endDate=${endDate}`, [`X-API-Key: ${KEY}`]);
  }),
);
/** How much a slow reader reads each second, in bytes. */
const BYTES_PER_SECOND = 1024;

let target: Target;
let sockets: Socket[] = [];
beforeAll(async () => {
  target = await createTarget({}, wideLedger);
});
afterAll(() => target?.dispose());
beforeEach(() => target.restartIfHarmed());
afterEach(() => {
  for (const socket of sockets) socket.resetAndDestroy();
  sockets = [];
});

async function getBreakdown(): Promise<number> {
  const headers = withKey(KEY);
  const { status } = await rawHttp(target.service().http, { target: BREAKDOWN, headers });
  return status;
}

/** Opens a connection that sends the requests and does not read. */
function open(): Socket {
  const socket = connect(target.port("http"), "127.0.0.1");
  socket.on("error", () => {});
  socket.write(PIPELINED);
  sockets.push(socket);
  return socket;
}

/** The distinct statuses of other calls, made one after the other. */
async function statusesOfOtherCalls(): Promise<number[]> {
  const statuses = new Set<number>();
  for (const start = performance.now(); performance.now() < start + DURATION; ) {
    statuses.add(await getBreakdown());
    await sleep(100);
  }
  return [...statuses];
}

it("240 pipelined breakdowns take little memory and delay no call if clients read slowly or not at all", async () => {
  open();
  open();
  const slow = [open(), open()];
  const reads = setInterval(() => {
    for (const reader of slow) reader.read(BYTES_PER_SECOND);
  }, 1_000);
  expect(await statusesOfOtherCalls()).toEqual([200]);
  clearInterval(reads);
  await target.expectUnharmed("pipelined breakdowns");
  expect(await target.peakMemory()).toBeLessThan(MAX_MEMORY);
});
