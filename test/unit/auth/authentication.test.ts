/** The limit on failed authentications of an address. */
import { expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { createAuthentication } from "../../../src/auth/authentication.ts";
import { shareOf } from "../../../src/handler.ts";
import { createTokenBuckets } from "../../../src/rpc/token-buckets.ts";
import { providerKey } from "../../support/caller-key.ts";

const { signal } = new AbortController();

it("up to the burst of its address, a failure is unauthenticated; beyond it, too many; a valid key is served", async () => {
  // Never refilled: its clock stands still.
  const buckets = createTokenBuckets({ rate: 10, burst: 2 }, () => 0);
  const issued = { key: providerKey("1"), revoked: false, expiresAt: Number.POSITIVE_INFINITY };
  const authenticate = createAuthentication(async () => issued, buckets, "grpc");
  const outcomeOf = (address: string, xApiKey: string) =>
    authenticate(
      { xApiKey: [xApiKey], authorization: [], xProviderId: [] },
      { signal, address, protocol: "rest" },
      0,
    ).then(shareOf, ({ kind }) => kind);
  const outcomes: string[] = [];
  for (const address of "aaab") outcomes.push(await outcomeOf(address, "no key"));
  expect(outcomes).toEqual([
    "unauthenticated",
    "unauthenticated",
    "tooManyFailures",
    "unauthenticated",
  ]);
  expect(await outcomeOf("a", generateKey())).toBe("1");
});
