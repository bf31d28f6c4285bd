/**
 * Each provider has a share of the connections, and each service key one of its own, whichever providers it asks
 * about. Limits of calls: test/unit/rpc/shares.test.ts.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RpcRequest, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** Calls that find no free place wait longer than the test lasts on a quiet machine. */
const POOL = { DATABASE_POOL_SIZE: "4", MAX_CALL_MS: "25000", SERVICE_KEYS: "all" };
const FLOOD = 20;

let fixture: Fixture;
let second: string;
let keys: Readonly<Record<"billing" | "support", string>>;
beforeAll(async () => {
  fixture = await createFixture(smallLedger, POOL);
  second = await fixture.issueKey("2");
  const [billing, support] = await Promise.all(
    ["billing export", "support"].map((name) => fixture.issueServiceKey(name)),
  );
  keys = { billing: `${billing}`, support: `${support}` };
});
afterAll(() => fixture?.dispose());

type Headers = RpcRequest["headers"] & object;
const own = () => withKey(fixture.key);
const about = (name: keyof typeof keys, id: number): Headers => [
  ...withKey(keys[name]),
  ["x-provider-id", `${id}`],
];
const call = (request: RpcRequest) => fixture.clients.get("REST").call(request);
/** The question about a period of its own, which needs the charges. */
const breakdown = (headers: Headers, nth: number) => {
  const endDate = `2024-02-${`${nth + 1}`.padStart(2, "0")}`;
  return call({
    method: "GetServerBreakdown",
    message: { startDate: "2024-01-01", endDate },
    headers,
  });
};
const platform = (nth: number) => {
  const message = { startDate: `2024-01-0${1 + (nth % 9)}`, endDate: "2024-12-31" };
  return call({ method: "ListProviderRevenue", message, headers: withKey(keys.billing) });
};

it.each<[string, (nth: number) => Promise<unknown>, () => Headers]>([
  ["a provider do not delay another", (nth) => breakdown(own(), nth), () => withKey(second)],
  [
    "a provider do not delay a service key",
    (nth) => breakdown(own(), nth),
    () => about("billing", 1),
  ],
  [
    "a service key do not delay a provider",
    (nth) => breakdown(about("billing", 1 + (nth % 2)), nth),
    own,
  ],
  [
    "a service key do not delay another",
    (nth) => breakdown(about("billing", 1 + (nth % 2)), nth),
    () => about("support", 1),
  ],
  ["a service key about all providers do not delay one", platform, own],
])("expensive questions of %s", async (_, ask, headers) => {
  await using lock = await lockTable(fixture.database, "charges");
  const calls = Array.from({ length: FLOOD }, (_, nth) => ask(nth));
  await lock.waitForQueries(2);
  expect(await call({ method: "ListPayouts", headers: headers() })).toHaveProperty("response");
  await lock.release();
  await Promise.all(calls);
});
