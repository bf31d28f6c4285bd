/** Clients that ask for much on a connection and read little or nothing of it. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { withKey } from "../../support/request.ts";
import { inParallel } from "./traffic/connections.ts";
import { request } from "./traffic/exchanges.ts";
import { type Growth, measureGrowth } from "./traffic/memory.ts";
import { KEY, setTarget, type Target } from "./traffic/target.ts";
import { wideLedger } from "./traffic/wide-ledger.ts";

/** MiB by which the process may grow. */
const LARGEST_GROWTH = 100;
const CONNECTIONS = 4;
const BREAKDOWN = "/api/provider/revenue/servers?startDate=2024-03-01";
/** Breakdowns of a megabyte in one packet. Each asks something else, so that none share an answer. */
const PIPELINED = Buffer.concat(
  Array.from({ length: 240 }, (_, index) => {
    const endDate = new Date(Date.UTC(2024, 3, 1, 0, index)).toISOString();
    return request(`GET ${BREAKDOWN}&endDate=${endDate}`, [`X-API-Key: ${KEY}`]);
  }),
);
/** What a slow reader takes each second, in bytes. */
const SIP = 1024;

let target: Target;
let growth: Growth;
let sockets: Socket[] = [];
beforeAll(async () => {
  target = await setTarget({}, wideLedger);
});
afterAll(() => target?.dispose());
beforeEach(async () => {
  await target.revive();
  // The heap has its usual size only after some work.
  await inParallel(Array(40).keys(), 8, breakdown);
  growth = await measureGrowth();
});
afterEach(() => {
  growth?.stop();
  for (const socket of sockets) socket.resetAndDestroy();
  sockets = [];
});

async function breakdown(): Promise<number> {
  const headers = withKey(KEY);
  const { status } = await rawHttp(target.service().http, { target: BREAKDOWN, headers });
  return status;
}

function open(): Socket {
  const socket = connect(target.port("http"), "127.0.0.1");
  socket.on("error", () => {});
  socket.write(PIPELINED);
  sockets.push(socket);
  return socket;
}

/** Asks good calls one after the other; resolves to their statuses. */
async function statusesWithin(duration: number): Promise<number[]> {
  const statuses = new Set<number>();
  for (const began = performance.now(); performance.now() < began + duration; ) {
    statuses.add(await breakdown());
    await sleep(100);
  }
  return [...statuses];
}

it("240 pipelined breakdowns that nobody reads take no memory, on each of 4 connections", async () => {
  for (let i = 0; i < CONNECTIONS; i++) open();
  expect(await statusesWithin(5_000)).toEqual([200]);
  await target.expectUnharmed("pipelined breakdowns, not read");
  expect(growth.stop()).toBeLessThan(LARGEST_GROWTH);
});

it("240 pipelined breakdowns that are read slowly take no memory, on each of 4 connections", async () => {
  const readers = Array.from({ length: CONNECTIONS }, open);
  const sips = setInterval(() => {
    for (const reader of readers) reader.read(SIP);
  }, 1_000);
  expect(await statusesWithin(5_000)).toEqual([200]);
  clearInterval(sips);
  await target.expectUnharmed("pipelined breakdowns, read slowly");
  expect(growth.stop()).toBeLessThan(LARGEST_GROWTH);
});
