/** When the issue, the revocation and the expiry of a key take effect, in every protocol. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ApiKey, generateKey, hashKey } from "../../../src/auth/api-key.ts";
import { revokeKey } from "../../../src/auth/key-registry.ts";
import { withoutHeaders } from "../../support/clients/client.ts";
import { FAST_CLIENTS } from "../../support/clients/clients.ts";
import { errorThrough, UNAUTHENTICATED } from "../../support/expected-error.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** How soon a revocation takes effect, in milliseconds. */
const REVOCATION_DELAY = 1_000;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

/** Whether a key is accepted. If it is not, the error must be the one of every invalid key. */
async function isAccepted(name: string, key: string): Promise<boolean> {
  const client = fixture.clients.get(name);
  const outcome = await client.call({ method: "GetOverview", headers: withKey(key) });
  if ("response" in outcome) return true;
  expect(withoutHeaders(outcome), name).toEqual(errorThrough(client, UNAUTHENTICATED));
  return false;
}

/** Runs a test through every client at the same time. */
function throughEveryClient(test: (name: string) => Promise<void>): () => Promise<unknown> {
  return () => Promise.all(FAST_CLIENTS.map(test));
}

it(
  "a key in use is rejected within one second of its revocation",
  throughEveryClient(async (name) => {
    const key = await fixture.issueKey("1");
    expect(await isAccepted(name, key), name).toBe(true);
    await revokeKey(fixture.database.knex, { key: key as ApiKey });
    await sleep(REVOCATION_DELAY);
    expect(await isAccepted(name, key), name).toBe(false);
  }),
);

it(
  "a key in use is rejected from the millisecond of its expiry",
  throughEveryClient(async (name) => {
    const expiresAt = Date.now() + 600;
    const key = await fixture.issueKey("1", expiresAt);
    expect(await isAccepted(name, key), name).toBe(true);
    while (Date.now() < expiresAt) await sleep(expiresAt - Date.now());
    expect(await isAccepted(name, key), name).toBe(false);
  }),
);

it(
  "a key that was rejected as unknown is accepted as soon as it is issued",
  throughEveryClient(async (name) => {
    const key = generateKey();
    expect(await isAccepted(name, key), name).toBe(false);
    await fixture.database
      .knex("api_keys")
      .insert({ provider_id: 1, name: "test", key_hash: hashKey(key) });
    expect(await isAccepted(name, key), name).toBe(true);
  }),
);
