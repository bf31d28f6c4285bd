/** Many requests with invalid keys from one address: 429 for them, and nothing for anybody else. */
import { Agent } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { withoutHeaders } from "../../support/clients/client.ts";
import { FAST_CLIENTS } from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { errorThrough, TOO_MANY_FAILURES, UNAUTHENTICATED } from "../../support/expected-error.ts";
import { paths, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const BURST = 20;
/** Failures that are forgiven per second: none within the time of a test. */
const RATE = 1;
const CONNECTIONS = 300;
/** How long the flood lasts, and how long a good call may take meanwhile, in ms. */
const DURATION = 3_000;
const MAX_GOOD_CALL = 1_500;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger, {
    FAILED_AUTH_BURST: `${BURST}`,
    FAILED_AUTH_RATE: `${RATE}`,
    TRUSTED_PROXIES: "127.0.0.1",
  });
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
  const calls = Array.from({ length: BURST }, () => callFrom(address, generateKey()));
  for (const outcome of await Promise.all(calls)) {
    expect(withoutHeaders(outcome)).toEqual(errorThrough({ protocol: "rest" }, UNAUTHENTICATED));
  }
}

it.each(FAST_CLIENTS)(
  "%s: an address that sent too many invalid keys gets 429 for the next",
  async (name) => {
    const address = `198.51.100.${1 + FAST_CLIENTS.indexOf(name)}`;
    await exhaust(address);
    // Malformed keys count like unknown ones.
    const calls = [generateKey(), "rvk_malformed"].map((key) => callFrom(address, key, name));
    for (const outcome of await Promise.all(calls)) {
      const client = fixture.clients.get(name);
      expect(withoutHeaders(outcome)).toEqual(errorThrough(client, TOO_MANY_FAILURES));
      expect(outcome.headers["retry-after"]).toBe("1");
    }
  },
);

it("its valid keys are served, also one that was never used before, and do not reset the count", async () => {
  await exhaust("203.0.113.1");
  for (const key of [fixture.key, await fixture.issueKey("1")]) {
    expect(await callFrom("203.0.113.1", key)).toHaveProperty("response");
  }
  expect(withoutHeaders(await callFrom("203.0.113.1", generateKey()))).toEqual(
    errorThrough({ protocol: "rest" }, TOO_MANY_FAILURES),
  );
});

it("other addresses still get 401; those of one IPv6 /64 count as one", async () => {
  await exhaust("2001:db8:1:2::1");
  const codes = async (address: string) => {
    const outcome = await callFrom(address, generateKey());
    return "code" in outcome ? outcome.code : "OK";
  };
  expect(await codes("2001:db8:1:2:ffff::9")).toBe("429");
  expect(await codes("2001:db8:1:3::1")).toBe("401");
  expect(await codes("203.0.113.99")).toBe("401");
});

it("a flood of unknown keys neither delays nor fails a good call, with a cached key or a new one", async () => {
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
