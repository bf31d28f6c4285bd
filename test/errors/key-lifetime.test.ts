/** Revoking a key, and its expiry, take effect within one second, through every door. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApiKey, generateKey } from "../../src/access/key.ts";
import { revokeKey } from "../../src/access/registry.ts";
import { QUICK_DOORS } from "../service/doors.ts";
import { smallLedger } from "../service/ledger.ts";
import { poll } from "../service/poll.ts";
import { withKey } from "../service/question.ts";
import { bare, through, UNAUTHENTICATED } from "../service/refusal.ts";
import { type Stage, setStage } from "../service/stage.ts";

const ONE_SECOND = 1_000;

let stage: Stage;
beforeAll(async () => {
  stage = await setStage(smallLedger);
});
afterAll(() => stage?.strike());

describe.each(QUICK_DOORS)("through %s", (name) => {
  /** Whether the key is let in; where it is not, the answer must be the one for every bad key. */
  async function isAccepted(key: string): Promise<boolean> {
    const door = stage.doors.named(name);
    const outcome = await door.call({ method: "GetOverview", headers: withKey(key) });
    if ("answer" in outcome) return true;
    expect(bare(outcome)).toEqual(through(door, UNAUTHENTICATED));
    return false;
  }

  it("a revoked key is refused within one second, for good", async () => {
    const key = await stage.issue("1");
    expect(await isAccepted(key)).toBe(true);
    await revokeKey(stage.database.knex, { key: key as ApiKey });
    await poll(ONE_SECOND, async () => (await isAccepted(key)) === false || undefined);
    expect(await isAccepted(key)).toBe(false);
  });

  it("an expiring key is accepted until it expires, and refused within one second", async () => {
    const expiry = Date.now() + 400;
    const key = await stage.issue("1", expiry);
    const refused = await poll(400 + ONE_SECOND, async () =>
      (await isAccepted(key)) ? undefined : Date.now(),
    );
    expect(refused).toBeGreaterThanOrEqual(expiry);
    expect(await isAccepted(key)).toBe(false);
  });

  it("a new key is accepted at once, though it was refused before", async () => {
    expect(await isAccepted(generateKey())).toBe(false);
    expect(await isAccepted(await stage.issue("1"))).toBe(true);
  });
});
