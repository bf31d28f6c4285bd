/**
 * Random mixes of keys, their states, `x-provider-id`, protocols and ports, compared with the rules written a
 * second time. SOAK multiplies the number of mixes: 20 is 10,000.
 */

import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRandom, type Random } from "../../../dev/random.ts";
import { generateKey, hashKey, hintOf } from "../../../src/auth/api-key.ts";
import { type Outcome, withoutHeaders } from "../../support/clients/client.ts";
import { type Clients, FAST_CLIENTS, openClients } from "../../support/clients/clients.ts";
import {
  DATABASE_UNAVAILABLE,
  DEADLINE_EXCEEDED,
  errorThrough,
  FORBIDDEN,
  OVERLOADED,
  PROVIDER_NOT_FOUND,
  UNAUTHENTICATED,
} from "../../support/expected-error.ts";
import { poll } from "../../support/poll.ts";
import type { RequestHeaders } from "../../support/request.ts";
import { SEED, SEEDED } from "../../support/seed.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { SOAK } from "../../support/soak.ts";

const COUNT = 500 * SOAK;
const AT_ONCE = 50;
/** Each call has an address of its own, or the limit on failures would answer. */
const PROXIED = { TRUSTED_PROXIES: "127.0.0.1" };

const PROVIDERS = ["1", "2", "9007199254740993"];
const UNKNOWN = ["3", "9007199254740992", "18446744073709551615"];
const MALFORMED = [
  "0",
  "01",
  "+1",
  "1,1",
  "1.0",
  "one",
  "18446744073709551616",
  "rvs_",
  "1e0",
  "-1",
];
const SETTINGS = ["grpc", "all", "off"] as const;
const STATES = ["valid", "valid", "valid", "expired", "revoked", "unknown", "mistyped"] as const;

/** A key, and what it is. */
interface TestKey {
  readonly text: string;
  readonly state: (typeof STATES)[number];
  /** Its provider; undefined for a service key. */
  readonly provider: string | undefined;
}

let fixture: Fixture;
let others: ServiceProcess[];
let clients: Readonly<Record<(typeof SETTINGS)[number], Clients>>;
const keys: TestKey[] = [];

beforeAll(async () => {
  fixture = await createFixture(async ({ knex }) => {
    await knex("providers").insert(PROVIDERS.map((id) => ({ id, name: `provider ${id}` })));
    await knex("payouts").insert(
      PROVIDERS.map((id) => ({
        provider_id: id,
        public_id: `of-${id}`,
        paid_at: "2026-01-01 00:00:00.000",
        amount: "1.00",
        method: "PayPal",
        status: "Completed",
      })),
    );
  }, PROXIED);
  const { url, knex } = fixture.database;
  others = await Promise.all([
    startService(url, { ...PROXIED, SERVICE_KEYS: "all" }),
    startService(url, { ...PROXIED, SERVICE_KEYS: "off" }),
  ]);
  const [all, off] = others.map(openClients) as [Clients, Clients];
  clients = { grpc: fixture.clients, all, off };
  for (const provider of [...PROVIDERS, undefined, undefined]) {
    for (const state of STATES) {
      const key = generateKey(provider === undefined ? "service" : "provider");
      const text =
        state === "mistyped" ? `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}` : key;
      keys.push({ text, state, provider });
      if (state === "unknown" || state === "mistyped") continue;
      await knex("api_keys").insert({
        provider_id: provider ?? 0,
        name: "mixed",
        key_hash: hashKey(key),
        hint: hintOf(key),
        expires_at: state === "expired" ? "2026-01-01 00:00:00.000" : null,
        revoked_at: state === "revoked" ? "2026-01-01 00:00:00.000" : null,
      });
    }
  }
});
afterAll(async () => {
  clients?.all.close();
  clients?.off.close();
  for (const service of others ?? []) await service.kill();
  await fixture?.dispose();
});

/** A call, and what it must lead to by the rules. */
function mix(random: Random) {
  const setting = random.pick(SETTINGS);
  const client = clients[setting].get(random.pick(FAST_CLIENTS));
  const key = random.pick(keys);
  const some = () =>
    random.pick([
      random.pick(PROVIDERS),
      random.pick(PROVIDERS),
      random.pick(UNKNOWN),
      random.pick(MALFORMED),
    ]);
  const own = key.provider ?? random.pick(PROVIDERS);
  const named = random.pick<() => string[]>([
    () => [],
    () => [own],
    () => [own],
    () => [some()],
    () => [some(), some()],
  ])();
  const name = random.pick(["x-provider-id", "X-Provider-Id"]);
  const keyHeader = random.pick<readonly [string, string]>([
    ["x-api-key", key.text],
    ["authorization", `Bearer ${key.text}`],
  ]);
  const address = `2001:db8:${random.hex(4)}:${random.hex(4)}::1`;
  const headers: RequestHeaders = [
    keyHeader,
    ["x-forwarded-for", address],
    ...named.map((id) => [name, id] as const),
  ];
  return { setting, client, key, named, headers };
}

type Mix = ReturnType<typeof mix>;

/** "figures of N", or what is refused. */
function expected({ setting, client, key, named }: Mix): string {
  const isAccepted =
    key.provider !== undefined ||
    setting === "all" ||
    (setting === "grpc" && client.protocol === "grpc");
  if (key.state !== "valid" || !isAccepted) return "unauthenticated";
  const [id] = named;
  if (key.provider !== undefined) {
    return named.every((one) => one === key.provider) && named.length < 2
      ? `figures of ${key.provider}`
      : "forbidden";
  }
  if (id === undefined || named.length > 1 || MALFORMED.includes(id)) return "malformed";
  return PROVIDERS.includes(id) ? `figures of ${id}` : "unknown";
}

/** The outcome of a call; undefined if a database that is busy has not answered. */
async function served({ client, headers }: Mix): Promise<Outcome | undefined> {
  const outcome = await client.call({ method: "ListPayouts", headers });
  const error = withoutHeaders(outcome);
  const busy = [DATABASE_UNAVAILABLE, DEADLINE_EXCEEDED, OVERLOADED].map((one) =>
    errorThrough(client, one),
  );
  return busy.some((one) => isDeepStrictEqual(one, error)) ? undefined : outcome;
}

/** What a call led to. Every error must be the very one of its kind. */
function outcomeOf({ client, key, named }: Mix, outcome: Outcome): string {
  if ("response" in outcome) {
    const { payouts } = outcome.response as { payouts: { payoutId: string }[] };
    const told = outcome.headers["x-provider-id"];
    expect(told).toBe(key.provider === undefined ? named[0] : undefined);
    return payouts.map(({ payoutId }) => payoutId.replace("of-", "figures of ")).join();
  }
  const errors = {
    unauthenticated: UNAUTHENTICATED,
    forbidden: FORBIDDEN,
    unknown: PROVIDER_NOT_FOUND,
  };
  const error = withoutHeaders(outcome);
  for (const [name, one] of Object.entries(errors)) {
    if (isDeepStrictEqual(error, errorThrough(client, one))) return name;
  }
  return outcome.message.includes("x-provider-id: with a service key")
    ? "malformed"
    : JSON.stringify(error);
}

it(`a mix of key, provider, protocol and port leads to what the rules say ${SEEDED}`, async () => {
  const counts: Record<string, number> = {};
  for (let first = 0; first < COUNT; first += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, index) => {
        const mixed = mix(createRandom(SEED * 1_000_003 + first + index));
        const outcome = await poll(() => served(mixed));
        const { setting, client, key, named } = mixed;
        const what = `${setting} ${client.name} ${key.state} ${key.provider} ${named.join(" & ")}`;
        const wanted = expected(mixed);
        expect(outcomeOf(mixed, outcome), what).toBe(wanted);
        counts[wanted] = (counts[wanted] ?? 0) + 1;
      }),
    );
  }
  // Every rule was reached.
  expect(Object.keys(counts).sort()).toEqual(
    [
      ...PROVIDERS.map((id) => `figures of ${id}`),
      "forbidden",
      "malformed",
      "unauthenticated",
      "unknown",
    ].sort(),
  );
  const output = [fixture.service, ...others].map((service) => service.output()).join();
  for (const { text } of keys) expect(output.includes(text.slice(8))).toBe(false);
});
