/** Which answers the TypeScript client repeats, how often, and when. The answers are written here. */
import { expect, it } from "vitest";
import { Code, createRevenueClient, RETRIES } from "../../../clients/typescript/src/index.ts";

const KEY = "rvk_not-a-real-key";

/** A client whose requests get these responses in order, the last one again and again. */
function clientOf(...responses: readonly (() => Response | Promise<Response>)[]) {
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
  });
  return { client, requests };
}

const error = (status: number, code: string, headers: Record<string, string> = {}) => {
  return () =>
    Response.json(
      { code, message: code },
      { status, headers: { "content-type": "application/json", ...headers } },
    );
};
const answer = () => new Response(null, { headers: { "content-type": "application/proto" } });
const unreachable = () => Promise.reject(new TypeError("fetch failed"));

it.each([
  ["unavailable", error(503, "unavailable")],
  ["unavailable with Retry-After", error(503, "unavailable", { "retry-after": "0" })],
  ["resource_exhausted with Retry-After", error(429, "resource_exhausted", { "retry-after": "0" })],
  ["503 of a proxy", () => new Response("<html>", { status: 503 })],
  ["no response", unreachable],
])("a call that ends with %s is repeated until it is served", async (_, failure) => {
  const { client, requests } = clientOf(failure, failure, answer);
  await client.getOverview({});
  expect(requests.map(({ key }) => key)).toEqual(Array(3).fill(`Bearer ${KEY}`));
});

it.each([
  ["invalid_argument", error(400, "invalid_argument")],
  ["unauthenticated", error(401, "unauthenticated")],
  ["unauthenticated with Retry-After", error(401, "unauthenticated", { "retry-after": "0" })],
  ["resource_exhausted without Retry-After", error(413, "resource_exhausted")],
  ["deadline_exceeded", error(504, "deadline_exceeded")],
  ["internal", error(500, "internal")],
  ["unknown", error(500, "unknown")],
  ["unimplemented", error(501, "unimplemented")],
  ["a Retry-After of an hour", error(503, "unavailable", { "retry-after": "3600" })],
])("a call that ends with %s is not repeated", async (_, failure) => {
  const { client, requests } = clientOf(failure, answer);
  await expect(client.getOverview({})).rejects.toThrow();
  expect(requests).toHaveLength(1);
});

it("a call is repeated three times at most, with growing pauses", async () => {
  const { client, requests } = clientOf(unreachable);
  await expect(client.getOverview({})).rejects.toMatchObject({
    code: Code.Unavailable,
    rawMessage: "the service cannot be reached",
  });
  expect(requests).toHaveLength(1 + RETRIES);
  const pauses = requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0));
  // A timer may fire a millisecond early. A loaded machine only makes pauses longer.
  for (const [index, pause] of pauses.entries()) {
    expect(pause).toBeGreaterThanOrEqual(100 * 2 ** index - 2);
  }
});

it("a pause is not shorter than Retry-After, and the service learns the time that is left", async () => {
  const { client, requests } = clientOf(error(503, "unavailable", { "retry-after": "1" }), answer);
  await client.getOverview({}, { timeoutMs: 20_000 });
  const [first, second] = requests;
  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
  expect(first?.timeout).toBe(20_000);
  expect(second?.timeout).toBeLessThanOrEqual(19_000);
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
  await expect(call).rejects.toMatchObject({ code: Code.Canceled });
  expect(requests).toHaveLength(1);
});

it("retries can be switched off", async () => {
  let requests = 0;
  const fetch = () => {
    requests++;
    return unreachable();
  };
  const options = { baseUrl: "http://127.0.0.1", apiKey: KEY, retries: 0, fetch };
  await expect(createRevenueClient(options).getOverview({})).rejects.toThrow();
  expect(requests).toBe(1);
});

it.each([
  ["with a line break", "rvk_secret\n"],
  ["beyond ASCII", "rvk_secret€"],
  ["empty", ""],
])(
  "a key that is %s is refused without being sent, and without being repeated in the error",
  async (_, apiKey) => {
    let sent = false;
    const fetch = async () => {
      sent = true;
      return answer();
    };
    const call = createRevenueClient({ baseUrl: "http://127.0.0.1", apiKey, fetch }).getOverview(
      {},
    );
    const thrown = await call.catch((reason) => reason);
    expect(thrown).toMatchObject({ code: Code.Unauthenticated });
    expect(`${thrown} ${thrown.cause}`).not.toContain("secret");
    expect(sent).toBe(false);
  },
);
