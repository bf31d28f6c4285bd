/** Requests that were accepted are answered, whatever comes behind them on the connection. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { exchange } from "../../unit/gateway/gateway.ts";
import { REQUESTS, request } from "./traffic/exchanges.ts";
import { setTarget, type Target } from "./traffic/target.ts";

let target: Target;
beforeAll(async () => {
  target = await setTarget();
});
afterAll(() => target?.dispose());

/** Sends bytes in one packet, and reads until the service closes the connection. */
async function answersTo(...bytes: readonly Buffer[]): Promise<string> {
  return exchange(target.port("http"), Buffer.concat(bytes));
}

function statusesIn(answers: string): number[] {
  return [...answers.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}

/** What is refused as HTTP, before there is a call. */
const REFUSED = [
  { name: "a malformed request", bytes: REQUESTS.malformed, status: 400 },
  { name: "CONNECT", bytes: REQUESTS.connectMethod, status: 405 },
  { name: "an expectation that cannot be met", bytes: REQUESTS.unmetExpectation, status: 417 },
  {
    name: "a request with too large headers",
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

const CASES = ACCEPTED.flatMap((before) => REFUSED.map((refused) => ({ ...before, ...refused })));

it.each(CASES)(
  "$before before $name is answered; the refusal comes last and the connection closes",
  async ({ accepted, statuses, bytes, status }) => {
    const answers = await answersTo(...accepted, bytes);
    expect(statusesIn(answers)).toEqual([...statuses, status]);
  },
);

it.each(REFUSED)("nothing behind $name is answered", async ({ bytes, status }) => {
  const answers = await answersTo(REQUESTS.overview, bytes, REQUESTS.overview);
  expect(statusesIn(answers)).toEqual([200, status]);
});

it("the answers of different lengths come in the order of the requests", async () => {
  const order = ["overview", "noKey", "breakdown", "connectGet", "unknownKey", "grpcWeb"] as const;
  const answers = await answersTo(...order.map((name) => REQUESTS[name]), REQUESTS.malformed);
  expect(statusesIn(answers)).toEqual([200, 401, 200, 200, 401, 200, 400]);
  const pieces = ["totalEarningsYTD", "Unauthorized", "totalServers", "totalServers"];
  let rest = answers;
  for (const piece of [...pieces, "Unauthorized", "grpc-status: 0", "not valid HTTP"]) {
    expect(rest).toContain(piece);
    rest = rest.slice(rest.indexOf(piece) + piece.length);
  }
});

it("nothing of all this harmed the service", () => target.expectUnharmed("pipelined requests"));
