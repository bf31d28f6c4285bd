/** Which keys are accepted, and the limit on failed authentications of an address. */
import { expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { createAuthentication } from "../../../src/auth/authentication.ts";
import { type CallerKey, shareOf } from "../../../src/handler.ts";
import { createTokenBuckets } from "../../../src/rpc/token-buckets.ts";
import { providerKey, serviceKey } from "../../support/caller-key.ts";

const { signal } = new AbortController();

/** What a key gets: the share of the row that is found, or the kind of the error. */
function authenticating(
  row: CallerKey,
  serviceKeys: Parameters<typeof createAuthentication>[2],
  takeFailure = (_address: string) => ({ allowed: true }),
) {
  const issued = { key: row, revoked: false, expiresAt: Number.POSITIVE_INFINITY };
  const authenticate = createAuthentication(async () => issued, takeFailure, serviceKeys);
  return (xApiKey: string, protocol: string, address = "a") =>
    authenticate(
      { xApiKey: [xApiKey], authorization: [], xProviderId: [] },
      { signal, address, protocol },
      0,
    ).then(shareOf, ({ kind }) => kind);
}

it.each(["off", "grpc", "all"] as const)(
  "with SERVICE_KEYS=%s, a service key counts there alone",
  async (setting) => {
    const outcomeOf = authenticating(serviceKey("12"), setting);
    const outcomes = ["grpc", "rest"].map((protocol) =>
      outcomeOf(generateKey("service"), protocol),
    );
    const [yes, no] = [shareOf(serviceKey("12")), "unauthenticated"];
    const expected = { off: [no, no], grpc: [yes, no], all: [yes, yes] };
    expect(await Promise.all(outcomes)).toEqual(expected[setting]);
    const ofProvider = authenticating(providerKey("7"), setting);
    expect(await ofProvider(generateKey(), "rest")).toBe("7");
  },
);

it("a row that was issued as the other kind of key does not count", async () => {
  const outcomes = [
    authenticating(providerKey("7"), "all")(generateKey("service"), "grpc"),
    authenticating(serviceKey("12"), "all")(generateKey(), "grpc"),
  ];
  expect(await Promise.all(outcomes)).toEqual(["unauthenticated", "unauthenticated"]);
});

it("up to the burst of its address, a failure is unauthenticated; beyond it, too many; a valid key is served", async () => {
  // Never refilled: its clock stands still.
  const buckets = createTokenBuckets({ rate: 10, burst: 2 }, () => 0);
  const outcomeOf = authenticating(providerKey("1"), "grpc", buckets);
  const outcomes: string[] = [];
  for (const address of "aaab") outcomes.push(await outcomeOf("no key", "rest", address));
  const no = "unauthenticated";
  expect(outcomes).toEqual([no, no, "tooManyFailures", no]);
  expect(await outcomeOf(generateKey(), "rest", "a")).toBe("1");
});
