/** Which answers the TypeScript client repeats, how often, and when; and what it refuses to send. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  type ApiKey,
  Code,
  createRevenueClient,
  type RevenueClientOptions,
} from "../../../clients/typescript/src/index.ts";

const KEY = "rvk_not-a-real-key";

// Pauses take no time. Nothing here waits for a socket.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The outcome of a call: its answer, or what it throws. Passes the time of its pauses, 10 s at most. */
async function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  const outcome = call.catch((error) => error);
  await vi.advanceTimersByTimeAsync(10_000);
  return outcome;
}

type Respond = () => Response | Promise<Response>;

type ClientOptions = Partial<Extract<RevenueClientOptions, { readonly apiKey: ApiKey }>>;

/** A client whose requests get these responses in order, the last one again and again. */
function clientWith(options: ClientOptions, ...responses: readonly Respond[]) {
  const requests: { at: number; timeout: number; key: string | null }[] = [];
  const client = createRevenueClient({
    baseUrl: "http://127.0.0.1",
    apiKey: KEY,
    fetch: async (_url, init) => {
      const headers = new Headers(init?.headers);
      const timeout = Number(headers.get("connect-timeout-ms"));
      requests.push({ at: Date.now(), timeout, key: headers.get("authorization") });
      const respond = responses[Math.min(requests.length, responses.length) - 1];
      if (respond === undefined) throw new Error("no response");
      return respond();
    },
    ...options,
  });
  return { client, requests };
}

const clientOf = (...responses: readonly Respond[]) => clientWith({}, ...responses);

const error = (status: number, code: string, headers: Record<string, string> = {}) => {
  return () =>
    Response.json(
      { code, message: code },
      { status, headers: { "content-type": "application/json", ...headers } },
    );
};
const answer = () => new Response(null, { headers: { "content-type": "application/proto" } });
const unreachable = () => Promise.reject(new TypeError("fetch failed"));
/** A connection that is lost after the first bytes of the body. */
const terminated = () =>
  new Response(
    new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(1));
        controller.error(new TypeError("terminated"));
      },
    }),
    { headers: { "content-type": "application/proto" } },
  );

it.each([
  ["unavailable", error(503, "unavailable")],
  ["resource_exhausted with Retry-After", error(429, "resource_exhausted", { "retry-after": "0" })],
  ["503 of a proxy", () => new Response("<html>", { status: 503 })],
  ["no response", unreachable],
  ["a part of a response", terminated],
])("a call that ends with %s is repeated until it is served", async (_, failure) => {
  // A function is asked for the key of each.
  const keys = ["k1", "k2", "k3"];
  const options = { apiKey: async () => keys.shift() ?? "" };
  const { client, requests } = clientWith(options, failure, failure, answer);
  expect(await outcomeOf(client.getOverview({}))).not.toBeInstanceOf(Error);
  expect(requests.map(({ key }) => key)).toEqual(["Bearer k1", "Bearer k2", "Bearer k3"]);
});

it.each([
  ["invalid_argument", error(400, "invalid_argument")],
  ["unauthenticated with Retry-After", error(401, "unauthenticated", { "retry-after": "0" })],
  ["resource_exhausted without Retry-After", error(413, "resource_exhausted")],
  ["a Retry-After of an hour", error(503, "unavailable", { "retry-after": "3600" })],
])("a call that ends with %s is not repeated", async (_, failure) => {
  const { client, requests } = clientOf(failure, answer);
  expect(await outcomeOf(client.getOverview({}))).toBeInstanceOf(Error);
  expect(requests).toHaveLength(1);
});

it("a call is repeated three times at most, with growing pauses, or as often as the options say", async () => {
  const { client, requests } = clientOf(unreachable);
  expect(await outcomeOf(client.getOverview({}))).toMatchObject({
    code: Code.Unavailable,
    rawMessage: "the service cannot be reached",
  });
  expect(requests).toHaveLength(4);
  for (const [index, { at }] of requests.slice(1).entries()) {
    const pause = at - (requests[index]?.at ?? 0);
    // 200, 400 and 800 ms, each half as long again or half as long at random.
    expect(pause).toBeGreaterThanOrEqual(100 * 2 ** index);
    expect(pause).toBeLessThanOrEqual(300 * 2 ** index);
  }
  const once = clientWith({ retries: 0 }, unreachable);
  expect(await outcomeOf(once.client.getOverview({}))).toBeInstanceOf(Error);
  expect(once.requests).toHaveLength(1);
});

it("a pause is not shorter than Retry-After, and the service learns the time that is left", async () => {
  const { client, requests } = clientOf(error(503, "unavailable", { "retry-after": "5" }), answer);
  await outcomeOf(client.getOverview({}, { timeoutMs: 20_000 }));
  const [first, second] = requests;
  const pause = (second?.at ?? 0) - (first?.at ?? 0);
  expect(pause).toBeGreaterThanOrEqual(5_000);
  expect([first?.timeout, second?.timeout]).toEqual([20_000, 20_000 - pause]);
});

it("the error is thrown at once if the pause would end after the deadline", async () => {
  const { client, requests } = clientOf(error(503, "unavailable", { "retry-after": "20" }), answer);
  const call = client.getOverview({}, { timeoutMs: 15_000 });
  await expect(call).rejects.toMatchObject({ code: Code.Unavailable });
  expect(requests).toHaveLength(1);
});

it("a caller that gives up ends the pause", async () => {
  const { client, requests } = clientOf(error(503, "unavailable", { "retry-after": "25" }), answer);
  const caller = new AbortController();
  const call = client.getOverview({}, { signal: caller.signal });
  setTimeout(() => caller.abort(), 50);
  expect(await outcomeOf(call)).toMatchObject({ code: Code.Canceled });
  expect(requests).toHaveLength(1);
});

it.each(["rvk_secret€", ""])(
  "the key '%s' is refused without being sent, and without being repeated in the error",
  async (apiKey) => {
    const { client, requests } = clientWith({ apiKey }, answer);
    const thrown = await client.getOverview({}).catch((reason) => reason);
    expect(thrown).toMatchObject({ code: Code.Unauthenticated });
    expect(`${thrown} ${thrown.cause}`).not.toContain("secret");
    expect(requests).toEqual([]);
  },
);

it("what names no provider, or no address of HTTP, is refused", () => {
  const options = { baseUrl: "http://127.0.0.1", serviceKey: "rvs_not-a-real-key" };
  for (const providerId of ["", "07", "7, 8"]) {
    const create = () => createRevenueClient({ ...options, providerId });
    expect(create).toThrow("providerId is no number of a provider");
  }
  const withUrl = (baseUrl: string) => () => createRevenueClient({ baseUrl, apiKey: KEY });
  expect(withUrl("")).toThrow("baseUrl is empty; expected one like https://revenue.example.com");
  expect(withUrl("ftp://revenue")).toThrow("baseUrl is not a valid URL; expected one like");
});
