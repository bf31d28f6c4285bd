/** Revoking a key, and its expiry, take effect within one second, through every door. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApiKey, generateKey } from "../../../src/auth/api-key.ts";
import { revokeKey } from "../../../src/auth/key-registry.ts";
import { QUICK_CLIENTS } from "../../support/clients/clients.ts";
import { poll } from "../../support/poll.ts";
import { bare, through, UNAUTHENTICATED } from "../../support/refusal.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const ONE_SECOND = 1_000;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

describe.each(QUICK_CLIENTS)("through %s", (name) => {
  /** Whether the key is let in; where it is not, the answer must be the one for every bad key. */
  async function isAccepted(key: string): Promise<boolean> {
    const door = fixture.clients.named(name);
    const outcome = await door.call({ method: "GetOverview", headers: withKey(key) });
    if ("answer" in outcome) return true;
    expect(bare(outcome)).toEqual(through(door, UNAUTHENTICATED));
    return false;
  }

  it("a revoked key is refused within one second, for good", async () => {
    const key = await fixture.issue("1");
    expect(await isAccepted(key)).toBe(true);
    await revokeKey(fixture.database.knex, { key: key as ApiKey });
    await poll(ONE_SECOND, async () => (await isAccepted(key)) === false || undefined);
    expect(await isAccepted(key)).toBe(false);
  });

  it("an expiring key is accepted until it expires, and refused within one second", async () => {
    const expiry = Date.now() + 400;
    const key = await fixture.issue("1", expiry);
    const refused = await poll(400 + ONE_SECOND, async () =>
      (await isAccepted(key)) ? undefined : Date.now(),
    );
    expect(refused).toBeGreaterThanOrEqual(expiry);
    expect(await isAccepted(key)).toBe(false);
  });

  it("a new key is accepted at once, though it was refused before", async () => {
    expect(await isAccepted(generateKey())).toBe(false);
    expect(await isAccepted(await fixture.issue("1"))).toBe(true);
  });
});
