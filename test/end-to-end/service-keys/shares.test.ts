/** A service key has limits and a share of the connections of its own, whichever providers it asks about. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { FAST_CLIENTS, openClients } from "../../support/clients/clients.ts";
import { type RpcRequest, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { startService } from "../../support/service/service-process.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** Calls that find no free place wait longer than the test lasts on a quiet machine. */
const POOL = { DATABASE_POOL_SIZE: "4", MAX_CALL_MS: "25000", SERVICE_KEYS: "all" };
const FLOOD = 20;

let fixture: Fixture;
let serviceKey: string;
let otherServiceKey: string;
beforeAll(async () => {
  fixture = await createFixture(smallLedger, POOL);
  serviceKey = await fixture.issueServiceKey("billing export");
  otherServiceKey = await fixture.issueServiceKey("support");
});
afterAll(() => fixture?.dispose());

const about = (key: string, id: string) => [...withKey(key), ["x-provider-id", id]] as const;

/** Different questions that need the charges. */
const questions = (headers: (nth: number) => RpcRequest["headers"] & object) =>
  Array.from({ length: FLOOD }, (_, nth) =>
    fixture.clients.get("REST").call({
      method: "GetServerBreakdown",
      message: { startDate: "2024-01-01", endDate: `2024-02-${`${nth + 1}`.padStart(2, "0")}` },
      headers: headers(nth),
    }),
  );

it.each<
  [
    string,
    (nth: number) => readonly (readonly [string, string])[],
    () => readonly (readonly [string, string])[],
  ]
>([
  ["a service key, of a provider's", () => withKey(fixture.key), () => about(serviceKey, "1")],
  [
    "a provider, of a service key's about several",
    (nth) => about(serviceKey, `${(nth % 2) + 1}`),
    () => withKey(fixture.key),
  ],
  [
    "a service key, of another one's",
    (nth) => about(serviceKey, `${(nth % 2) + 1}`),
    () => about(otherServiceKey, "1"),
  ],
])("expensive questions do not delay those of %s", async (_, flood, asked) => {
  await using lock = await lockTable(fixture.database, "charges");
  const calls = questions(flood);
  await lock.waitForQueries(2);
  const headers = asked();
  const outcome = await fixture.clients.get("REST").call({ method: "ListPayouts", headers });
  expect(outcome).toHaveProperty("response");
  await lock.release();
  await Promise.all(calls);
});

it.each(FAST_CLIENTS)(
  "through %s, the rate limit is that of the service key, for all providers together",
  async (name) => {
    const service = await startService(fixture.database.url, {
      SERVICE_KEYS: "all",
      RATE_LIMIT: "1",
      RATE_LIMIT_BURST: "1000",
    });
    const clients = openClients(service);
    try {
      const left = async (headers: RpcRequest["headers"] & object) => {
        const outcome = await clients.get(name).call({ method: "ListPayouts", headers });
        expect(outcome).toHaveProperty("response");
        return outcome.headers.ratelimit;
      };
      expect(await left(about(serviceKey, "1"))).toMatch(/r=999;/);
      expect(await left(about(serviceKey, "2"))).toMatch(/r=99[89];/);
      expect(await left(about(otherServiceKey, "2"))).toMatch(/r=999;/);
      expect(await left(withKey(fixture.key))).toMatch(/r=999;/);
    } finally {
      clients.close();
      await service.kill();
    }
  },
);
