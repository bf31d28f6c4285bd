/** Many requests with invalid keys from one address: 429 for them, and nothing for anybody else. */
import { Agent } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { FAILURES_PER_ADDRESS } from "../../../src/auth/failure-limit.ts";
import { type Outcome, withoutHeaders } from "../../support/clients/client.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { errorThrough, TOO_MANY_FAILURES, UNAUTHENTICATED } from "../../support/expected-error.ts";
import { paths, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const CLIENTS = ["REST", "gRPC, grpc-js"];
const MALFORMED_KEY = "rvk_malformed";
/** More failures than are forgiven while they are sent. */
const MORE = 100;
const CONNECTIONS = 300;
/** How long the flood lasts, and how long a good call may take meanwhile, in ms. */
const DURATION = 3_000;
const MAX_GOOD_CALL = 1_500;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger, { TRUSTED_PROXIES: "127.0.0.1" });
});
afterAll(() => fixture?.dispose());

/** Calls through a client from an address behind the trusted proxy. */
function callFrom(address: string, key: string, name = "REST") {
  const client = fixture.clients.get(name);
  const headers = [...withKey(key), ["x-forwarded-for", address] as const];
  return client.call({ method: "GetOverview", headers });
}

/** Sends as many invalid keys from an address as it may. */
async function exhaust(address: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  const headers = [...withKey(MALFORMED_KEY), ["x-forwarded-for", address] as const];
  const send = () => rawHttp(fixture.service.http, { target: paths.GetOverview, headers, agent });
  const responses = await Promise.all(Array.from({ length: FAILURES_PER_ADDRESS.burst }, send));
  agent.destroy();
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([401]));
}

/** Sends more invalid keys from an address, malformed and unknown ones, and returns those that got 429. */
async function refusedOf(address: string, name = "REST"): Promise<Outcome[]> {
  const keys = Array.from({ length: MORE }, (_, index) =>
    index % 2 === 0 ? MALFORMED_KEY : generateKey(),
  );
  const outcomes = await Promise.all(keys.map((key) => callFrom(address, key, name)));
  const client = fixture.clients.get(name);
  const refused = outcomes.filter(({ headers }) => headers["retry-after"] !== undefined);
  for (const outcome of outcomes) {
    const error = refused.includes(outcome) ? TOO_MANY_FAILURES : UNAUTHENTICATED;
    expect(withoutHeaders(outcome)).toEqual(errorThrough(client, error));
  }
  return refused;
}

// What counts is the same for every protocol, and so is a 429: see rate-limit.test.ts.
it.each(CLIENTS)(
  "%s: an address that sent too many invalid keys gets 429 for the next",
  async (name) => {
    const address = `198.51.100.${1 + CLIENTS.indexOf(name)}`;
    await exhaust(address);
    const refused = await refusedOf(address, name);
    expect(refused.length).toBeGreaterThan(0);
    for (const { headers } of refused) expect(headers["retry-after"]).toBe("1");
  },
);

it("its valid keys are served, also one that was never used before, and do not reset the count", async () => {
  await exhaust("203.0.113.1");
  for (const key of [fixture.key, await fixture.issueKey("1")]) {
    expect(await callFrom("203.0.113.1", key)).toHaveProperty("response");
  }
  expect(await refusedOf("203.0.113.1")).not.toEqual([]);
});

it("other addresses still get 401; those of one IPv6 /64 count as one", async () => {
  await exhaust("2001:db8:1:2::1");
  expect(await refusedOf("2001:db8:1:2:ffff::9")).not.toEqual([]);
  expect(await refusedOf("2001:db8:1:3::1")).toEqual([]);
  expect(await refusedOf("203.0.113.99")).toEqual([]);
});

it("a flood of unknown keys neither delays nor fails a good call, with a cached key or a new one", async () => {
  await exhaust("192.0.2.1");
  const end = performance.now() + DURATION;
  const agents = Array.from(
    { length: CONNECTIONS },
    () => new Agent({ keepAlive: true, maxSockets: 1 }),
  );
  const statuses = new Map<number, number>();
  const flood = agents.map(async (agent, index) => {
    while (performance.now() < end) {
      const headers = [
        ...withKey(generateKey()),
        // Half of them from one address, the others each from its own.
        [
          "x-forwarded-for",
          index % 2 === 0 ? "192.0.2.1" : `10.9.${index >> 8}.${index & 255}`,
        ] as const,
      ];
      const { status } = await rawHttp(fixture.service.http, {
        target: paths.GetOverview,
        headers,
        agent,
      });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  });
  const durations: number[] = [];
  for (let call = 0; performance.now() < end; call++) {
    const key = call % 2 === 0 ? fixture.key : await fixture.issueKey("1");
    const sent = performance.now();
    expect(await callFrom("192.0.2.1", key)).toHaveProperty("response");
    durations.push(performance.now() - sent);
  }
  await Promise.all(flood);
  for (const agent of agents) agent.destroy();
  expect([...statuses.keys()].sort()).toEqual([401, 429]);
  expect(durations.length).toBeGreaterThan(5);
  expect(Math.max(...durations)).toBeLessThan(MAX_GOOD_CALL);
});
