/** Pipelining is declined: one request is answered, whatever follows it, and the connection closes. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { paths, withKey } from "../../support/request.ts";
import { exchange } from "../../unit/gateway/gateway.ts";
import { REQUESTS, request } from "./traffic/exchanges.ts";
import { createTarget, KEY, type Target } from "./traffic/target.ts";

let target: Target;
beforeAll(async () => {
  target = await createTarget();
});
afterAll(() => target?.dispose());

/** Sends requests in one write, and reads until the service closes the connection. */
async function responsesTo(...bytes: readonly Buffer[]): Promise<string> {
  return exchange(target.port("http"), Buffer.concat(bytes));
}

function statusesIn(responses: string): number[] {
  return [...responses.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}

/** Requests that are rejected as HTTP, before they become calls. */
const REJECTED = [
  { name: "a malformed request", bytes: REQUESTS.malformed, status: 400 },
  { name: "CONNECT", bytes: REQUESTS.connectMethod, status: 405 },
  { name: "an unsupported expectation", bytes: REQUESTS.unmetExpectation, status: 417 },
  {
    name: "a request with headers that are too large",
    bytes: request("GET /api/provider/revenue", [`X-Long: ${"a".repeat(17_000)}`]),
    status: 431,
  },
] as const;

const ACCEPTED = [
  { before: "a REST call", accepted: REQUESTS.overview, expected: 200 },
  { before: "a REST call with an unknown key", accepted: REQUESTS.unknownKey, expected: 401 },
  { before: "a Connect GET", accepted: REQUESTS.connectGet, expected: 200 },
  { before: "a Connect POST", accepted: REQUESTS.connectJson, expected: 200 },
  { before: "a gRPC-Web call", accepted: REQUESTS.grpcWeb, expected: 200 },
] as const;

const FOLLOWERS = [...REJECTED, { name: "another call", bytes: REQUESTS.overview }] as const;

const CASES = ACCEPTED.flatMap((before) =>
  FOLLOWERS.map(({ name, bytes }) => ({ ...before, name, bytes })),
);

it.each(CASES)(
  "$before before $name is answered, and nothing else",
  async ({ accepted, expected, bytes }) => {
    const responses = await responsesTo(accepted, bytes);
    expect(statusesIn(responses)).toEqual([expected]);
    expect(responses).toMatch(/^connection: close\r$/im);
  },
);

it.each(REJECTED)("no request after $name is answered", async ({ bytes, status }) => {
  const responses = await responsesTo(bytes, REQUESTS.overview);
  expect(statusesIn(responses)).toEqual([status]);
});

/** How long one connection pipelines without end, in milliseconds. */
const DURATION = 3_000;
const CHUNK = Buffer.concat(Array.from({ length: 500 }, () => REQUESTS.unknownKey));

/** Pipelines without end, over a new connection whenever one is closed. */
async function pipeline(port: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    const send = () => socket.write(CHUNK) && setImmediate(send);
    socket.resume().on("drain", send).once("connect", send);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await Promise.race([closed, once(signal, "abort")]);
    socket.destroy();
  }
}

/** Makes calls one after the other; resolves to the 99th percentile of their durations in ms. */
async function p99OfCalls(): Promise<number> {
  const { http } = target.service();
  const times: number[] = [];
  for (const start = performance.now(); performance.now() < start + DURATION; ) {
    const before = performance.now();
    const response = await rawHttp(http, { target: paths.GetOverview, headers: withKey(KEY) });
    times.push(performance.now() - before);
    expect(response.status).toBe(200);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

it("another provider is served at once while a client pipelines without end", async () => {
  const quiet = await p99OfCalls();
  const stop = new AbortController();
  const pipelining = pipeline(target.port("http"), stop.signal);
  const beside = await p99OfCalls();
  stop.abort();
  await pipelining;
  // On a machine that is busy with other tests, a call may take as long without it.
  expect(beside).toBeLessThan(Math.max(100, 5 * quiet));
});

it("the service is unharmed", () => target.expectUnharmed("pipelined requests"));
