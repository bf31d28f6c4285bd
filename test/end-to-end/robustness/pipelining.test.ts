/** Pipelined requests: accepted ones are answered, whatever follows them on the connection. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { exchange } from "../../unit/gateway/gateway.ts";
import { REQUESTS, request } from "./traffic/exchanges.ts";
import { createTarget, type Target } from "./traffic/target.ts";

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
  { before: "a REST call", accepted: [REQUESTS.overview], statuses: [200] },
  { before: "a REST call with an unknown key", accepted: [REQUESTS.unknownKey], statuses: [401] },
  { before: "a Connect GET", accepted: [REQUESTS.connectGet], statuses: [200] },
  { before: "a Connect POST", accepted: [REQUESTS.connectJson], statuses: [200] },
  { before: "a gRPC-Web call", accepted: [REQUESTS.grpcWeb], statuses: [200] },
  {
    before: "three calls",
    accepted: [REQUESTS.breakdown, REQUESTS.noKey, REQUESTS.connectProto],
    statuses: [200, 401, 200],
  },
] as const;

const CASES = ACCEPTED.flatMap((before) =>
  REJECTED.map((rejected) => ({ ...before, ...rejected })),
);

it.each(CASES)(
  "$before before $name is answered, then $name is rejected and the connection is closed",
  async ({ accepted, statuses, bytes, status }) => {
    const responses = await responsesTo(...accepted, bytes);
    expect(statusesIn(responses)).toEqual([...statuses, status]);
  },
);

it.each(REJECTED)("no request after $name is answered", async ({ bytes, status }) => {
  const responses = await responsesTo(REQUESTS.overview, bytes, REQUESTS.overview);
  expect(statusesIn(responses)).toEqual([200, status]);
});

it("responses of different lengths are sent in the order of the requests", async () => {
  const order = ["overview", "noKey", "breakdown", "connectGet", "unknownKey", "grpcWeb"] as const;
  const responses = await responsesTo(...order.map((name) => REQUESTS[name]), REQUESTS.malformed);
  expect(statusesIn(responses)).toEqual([200, 401, 200, 200, 401, 200, 400]);
  const pieces = ["totalEarningsYTD", "Unauthorized", "totalServers", "totalServers"];
  let rest = responses;
  for (const piece of [...pieces, "Unauthorized", "grpc-status: 0", "not valid HTTP"]) {
    expect(rest).toContain(piece);
    rest = rest.slice(rest.indexOf(piece) + piece.length);
  }
});

it("the service is unharmed", () => target.expectUnharmed("pipelined requests"));
