/**
 * Random mixes of keys, their states, `x-provider-id`, RPCs, protocols and ports, compared with the rules written a
 * second time. SOAK multiplies the number of mixes: 20 is 6,000. And the shares of keys: each provider has a share of
 * the connections, and each service key one of its own, whichever providers it asks about.
 */
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRandom, type Random } from "../../../dev/random.ts";
import { generateKey, hashKey, hintOf } from "../../../src/auth/api-key.ts";
import { type Outcome, withoutHeaders } from "../../support/clients/client.ts";
import { CLIENTS, type Clients, openClients } from "../../support/clients/clients.ts";
import {
  badRequest,
  DATABASE_UNAVAILABLE,
  DEADLINE_EXCEEDED,
  errorThrough,
  FORBIDDEN,
  OVERLOADED,
  PROVIDER_NOT_FOUND,
  UNAUTHENTICATED,
} from "../../support/expected-error.ts";
import { poll } from "../../support/poll.ts";
import { type RequestHeaders, type RpcRequest, withKey } from "../../support/request.ts";
import { SEED, SEEDED } from "../../support/seed.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { SOAK } from "../../support/soak.ts";

const COUNT = 300 * SOAK;
const AT_ONCE = 50;
const PAST = "2026-01-01 00:00:00.000";
/** Each call has an address of its own, or the limit on failures would answer. */
const PROXIED = { TRUSTED_PROXIES: "127.0.0.1" };

/** The last one is the greatest id that there can be. A double cannot tell it from the one below. */
const PROVIDERS = ["1", "2", "18446744073709551615"];
const UNKNOWN = ["3", "4294967297", "18446744073709551614"];
const MALFORMED = ["0", "01", "+1", "1,1", "1.0", "one", "18446744073709551616", "rvs_", "1e0"];
/** `SERVICE_KEYS`. With `off`, no protocol takes them: test/unit/auth/authentication.test.ts. */
const SETTINGS = ["grpc", "all"] as const;
const STATES = ["valid", "valid", "valid", "expired", "revoked", "unknown", "mistyped"] as const;
const METHODS = [
  "GetOverview",
  "GetServerBreakdown",
  "ListPayouts",
  "ListProviderRevenue",
] as const;

const FOR_SERVICE_KEYS = "this RPC is for service keys alone";
/** The errors that the rules lead to. Every one must be the very one of its kind. */
const ERRORS = {
  unauthenticated: UNAUTHENTICATED,
  forbidden: FORBIDDEN,
  "unknown provider": PROVIDER_NOT_FOUND,
  "malformed provider": badRequest(
    "x-provider-id: with a service key, expected it exactly once, with the number of a provider, such as 7",
  ),
  "for service keys": {
    ...FORBIDDEN,
    body: JSON.stringify({ error: "Forbidden", message: FOR_SERVICE_KEYS }),
    message: FOR_SERVICE_KEYS,
  },
  "provider not expected": badRequest(
    "x-provider-id: expected none, because this RPC is about all providers",
  ),
};

/** What the rules lead to. */
const RULES = [
  ...[...PROVIDERS, `${PROVIDERS}`].map((id) => `figures of ${id}`),
  ...Object.keys(ERRORS),
  "not served",
].sort();

/** A key, and what it is. */
interface TestKey {
  readonly text: string;
  readonly state: (typeof STATES)[number];
  /** Its provider; undefined for a service key. */
  readonly provider: string | undefined;
}

let fixture: Fixture;
/** With few connections, for the shares. */
let all: ServiceProcess;
let clients: Readonly<Record<(typeof SETTINGS)[number], Clients>>;
const keys: TestKey[] = [];

beforeAll(async () => {
  fixture = await createFixture(async ({ knex }) => {
    await knex("providers").insert(PROVIDERS.map((id) => ({ id, name: `of-${id}` })));
    const server = { name: "server", status: "Active", price_per_hour: "1.0000" };
    await knex("servers").insert(
      PROVIDERS.map((id, nth) => ({ ...server, id: nth + 1, provider_id: id, uuid: `of-${id}` })),
    );
    const payout = { paid_at: PAST, amount: "1.00", method: "PayPal", status: "Completed" };
    await knex("payouts").insert(
      PROVIDERS.map((id) => ({ ...payout, provider_id: id, public_id: `of-${id}` })),
    );
  }, PROXIED);
  const { url, knex } = fixture.database;
  all = await startService(url, { ...PROXIED, SERVICE_KEYS: "all", DATABASE_POOL_SIZE: "4" });
  clients = { grpc: fixture.clients, all: openClients(all) };
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
        expires_at: state === "expired" ? PAST : null,
        revoked_at: state === "revoked" ? PAST : null,
      });
    }
  }
});
afterAll(async () => {
  clients?.all.close();
  await all?.kill();
  await fixture?.dispose();
});

/** A call, and what it must lead to by the rules. */
function mix(random: Random) {
  const setting = random.pick(SETTINGS);
  const method = random.pick(METHODS);
  const client = clients[setting].get(random.pick(CLIENTS));
  const key = random.pick(keys);
  const some = () => random.pick(random.pick([PROVIDERS, UNKNOWN, UNKNOWN, MALFORMED]));
  const own = key.provider ?? random.pick(PROVIDERS);
  const named = random.pick<() => string[]>([
    () => [],
    () => [own],
    () => [some()],
    () => [some()],
    () => [some(), some()],
  ])();
  const name = random.pick(["x-provider-id", "X-Provider-Id"]);
  const [inKey, inBearer] = [
    ["x-api-key", key.text],
    ["authorization", `Bearer ${key.text}`],
  ] as const;
  const sent = random.pick([[inKey], [inKey], [inBearer], [inBearer], [inKey, inBearer], []]);
  const address = `2001:db8:${random.hex(4)}:${random.hex(4)}::1`;
  const headers: RequestHeaders = [
    ...sent,
    ["x-forwarded-for", address],
    ...named.map((id) => [name, id] as const),
  ];
  return { setting, method, client, key, isSentOnce: sent.length === 1, named, headers };
}

type Mix = ReturnType<typeof mix>;

/** "figures of N", or what is refused. */
function expected({ setting, method, client, key, isSentOnce, named }: Mix): string {
  const takesServiceKeys = setting === "all" || setting === client.protocol;
  const isOfAll = method === "ListProviderRevenue";
  if (isOfAll && !takesServiceKeys) return "not served";
  const isAccepted = key.provider !== undefined || takesServiceKeys;
  if (key.state !== "valid" || !isSentOnce || !isAccepted) return "unauthenticated";
  if (isOfAll && key.provider !== undefined) return "for service keys";
  if (isOfAll) return named.length > 0 ? "provider not expected" : `figures of ${PROVIDERS}`;
  const [id] = named;
  if (key.provider !== undefined) {
    return named.every((one) => one === key.provider) && named.length < 2
      ? `figures of ${key.provider}`
      : "forbidden";
  }
  if (id === undefined || named.length > 1 || MALFORMED.includes(id)) return "malformed provider";
  return PROVIDERS.includes(id) ? `figures of ${id}` : "unknown provider";
}

/** The outcome of a call; undefined if a database that is busy has not answered. */
async function served({ method, client, headers }: Mix): Promise<Outcome | undefined> {
  const outcome = await client.call({ method, headers });
  const error = withoutHeaders(outcome);
  const busy = [DATABASE_UNAVAILABLE, DEADLINE_EXCEEDED, OVERLOADED].map((one) =>
    errorThrough(client, one),
  );
  return busy.some((one) => isDeepStrictEqual(one, error)) ? undefined : outcome;
}

/** What a call led to. */
function outcomeOf({ client, method, key, named }: Mix, outcome: Outcome): string {
  if ("response" in outcome) {
    // A service key is told whom the response is about, and so are caches.
    const { headers } = outcome;
    const isTold = key.provider === undefined && method !== "ListProviderRevenue";
    expect(headers["x-provider-id"]).toBe(isTold ? named[0] : undefined);
    expect(headers.vary?.split(", ").includes("x-provider-id") ?? false).toBe(isTold);
    const owners = JSON.stringify(outcome.response).matchAll(/"of-(\d+)"/g);
    return `figures of ${[...new Set([...owners].map(([, id]) => id))]}`;
  }
  const error = withoutHeaders(outcome);
  for (const [name, one] of Object.entries(ERRORS)) {
    if (isDeepStrictEqual(error, errorThrough(client, one))) return name;
  }
  return /^(404|UNIMPLEMENTED)$/.test(outcome.code) ? "not served" : JSON.stringify(error);
}

it(`a mix of key, provider, protocol and port leads to what the rules say ${SEEDED}`, async () => {
  const counts: Record<string, number> = {};
  // Until every rule is reached. Rare ones need more mixes now and then.
  const isComplete = () => RULES.every((rule) => rule in counts);
  for (let first = 0; first < COUNT || (!isComplete() && first < 4 * COUNT); first += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, index) => {
        const mixed = mix(createRandom(SEED * 1_000_003 + first + index));
        const outcome = await poll(() => served(mixed));
        const { setting, method, client, key, named } = mixed;
        const what = `${setting} ${method} ${client.name} ${key.state} ${key.provider} ${named.join(" & ")}`;
        const wanted = expected(mixed);
        expect(outcomeOf(mixed, outcome), what).toBe(wanted);
        counts[wanted] = (counts[wanted] ?? 0) + 1;
      }),
    );
  }
  expect(Object.keys(counts).sort()).toEqual(RULES);
  const output = fixture.service.output() + all.output();
  for (const { text } of keys) expect(output.includes(text.slice(8))).toBe(false);
});

/** The headers of a call of the nth valid key of a provider, or of the service keys. */
function headersOf(provider: string | undefined, nth = 0, about?: string): RequestHeaders {
  const valid = keys.filter((key) => key.state === "valid" && key.provider === provider);
  const named = about === undefined ? [] : [["x-provider-id", about] as const];
  return [...withKey(valid[nth]?.text ?? ""), ...named];
}

const [FIRST = "", SECOND = ""] = PROVIDERS;
const ofProvider = () => headersOf(FIRST);
const ofServiceKey = (nth: number) => headersOf(undefined, 0, PROVIDERS[nth % 2]);

it.each<[string, RpcRequest["method"], (nth: number) => RequestHeaders, () => RequestHeaders]>([
  ["a provider do not delay another", "GetServerBreakdown", ofProvider, () => headersOf(SECOND)],
  ["a service key do not delay its providers", "GetServerBreakdown", ofServiceKey, ofProvider],
  [
    "a service key do not delay another",
    "GetServerBreakdown",
    ofServiceKey,
    () => headersOf(undefined, 1, FIRST),
  ],
  [
    "a service key about all providers do not delay one",
    "ListProviderRevenue",
    () => headersOf(undefined),
    ofProvider,
  ],
])("expensive questions of %s", async (_, method, headers, others) => {
  const client = clients.all.get("REST");
  await using lock = await lockTable(fixture.database, "charges");
  // More than there are connections. One without a place waits longer than this lasts on a quiet machine.
  const flood = Array.from({ length: 20 }, (_, nth) => {
    const message = { startDate: "2024-01-01", endDate: `2024-02-${10 + (nth % 20)}` };
    return client.call({ method, message, headers: headers(nth) });
  });
  await lock.waitForQueries(2);
  const other = { method: "ListPayouts", headers: others() } as const;
  expect(await client.call(other)).toHaveProperty("response");
  await lock.release();
  await Promise.all(flood);
});
