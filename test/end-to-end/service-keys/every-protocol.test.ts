/** What a service key and `x-provider-id` mean, through every protocol and on both ports. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome, RpcClient } from "../../support/clients/client.ts";
import { withoutHeaders } from "../../support/clients/client.ts";
import { ALL_CLIENTS, type Clients, openClients } from "../../support/clients/clients.ts";
import {
  badRequest,
  errorThrough,
  FORBIDDEN,
  PROVIDER_NOT_FOUND,
  UNAUTHENTICATED,
} from "../../support/expected-error.ts";
import type { RpcRequest } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/** The greatest id that a provider can have, and the one below, which a double cannot tell from it. */
const [LAST, LAST_BUT_ONE] = ["18446744073709551615", "18446744073709551614"];
const YEAR = { startDate: "2024-01-01", endDate: "2024-12-31" };
const REQUESTS: readonly RpcRequest[] = [
  { method: "GetServerBreakdown", message: YEAR },
  { method: "ListPayouts" },
  { method: "ListCharges", message: YEAR },
];
const MALFORMED = badRequest(
  "x-provider-id: with a service key, expected it exactly once, with the number of a provider, such as 7",
);

let fixture: Fixture;
let serviceKey: string;
let others: ServiceProcess[];
/** The clients of services by their setting. */
let clients: Readonly<Record<"grpc" | "all" | "off", Clients>>;
/** Keys of providers, by id. */
const keys: Record<string, string> = {};

beforeAll(async () => {
  fixture = await createFixture(
    async (database) => {
      await smallLedger(database);
      await database.knex("providers").insert({ id: LAST, name: "last" });
    },
    { SERVICE_KEYS: "all" },
  );
  const { url } = fixture.database;
  others = await Promise.all([startService(url), startService(url, { SERVICE_KEYS: "off" })]);
  const [grpc, off] = others.map(openClients) as [Clients, Clients];
  clients = { grpc, all: fixture.clients, off };
  serviceKey = await fixture.issueServiceKey("billing export");
  for (const id of ["1", "2"]) keys[id] = await fixture.issueKey(id);
});
afterAll(async () => {
  clients?.grpc.close();
  clients?.off.close();
  for (const service of others ?? []) await service.kill();
  await fixture?.dispose();
});

/** Calls with a key, and `x-provider-id` once for each id. */
function call(client: RpcClient, key = "", ids: readonly string[] = [], request = REQUESTS[0]) {
  const headers = [["x-api-key", key], ...ids.map((id) => ["x-provider-id", id])] as const;
  return client.call({ ...(request as RpcRequest), headers } as RpcRequest);
}

const refused = (client: RpcClient, outcome: Outcome, error: Parameters<typeof errorThrough>[1]) =>
  expect(withoutHeaders(outcome)).toEqual(errorThrough(client, error));

describe.each(ALL_CLIENTS)("%s", (name) => {
  const client = () => clients.all.get(name);
  // buf curl starts a process for each call, and prints no headers.
  const isBuf = name.startsWith("buf");
  const some = <T>(values: readonly T[]) => (isBuf ? values.slice(0, 1) : values);

  it("gets with a service key what the provider's own key gets, and whose it is", async () => {
    for (const id of some(["1", "2"])) {
      for (const request of REQUESTS) {
        const own = await call(client(), keys[id], [], request);
        const { headers, ...answer } = await call(client(), serviceKey, [id], request);
        expect(answer).toHaveProperty("response");
        expect(answer).toEqual(withoutHeaders(own));
        expect(own.headers["x-provider-id"]).toBeUndefined();
        if (isBuf) continue;
        expect(headers).toMatchObject({ "x-provider-id": id, "data-as-of": expect.any(String) });
        expect(headers.vary?.split(", ")).toContain("x-provider-id");
        expect(headers.etag).toBe(own.headers.etag);
      }
    }
  });

  it("gets for an unknown provider NOT_FOUND, and never zeros", async () => {
    for (const id of some([LAST_BUT_ONE, "3", "4294967297"])) {
      refused(client(), await call(client(), serviceKey, [id]), PROVIDER_NOT_FOUND);
    }
    expect(await call(client(), serviceKey, [LAST])).toHaveProperty("response");
  });

  it("gets with a provider's key and its own id what it gets without", async () => {
    const { headers: _, ...own } = await call(client(), keys["1"]);
    const { headers, ...answer } = await call(client(), keys["1"], ["1"]);
    expect(answer).toEqual(own);
    expect(headers).not.toHaveProperty("x-provider-id");
  });

  it("gets with a provider's key and any other id PERMISSION_DENIED, whether it exists or not", async () => {
    for (const id of some(["2", "3", LAST, "01", "1,1", "rvs_"])) {
      refused(client(), await call(client(), keys["1"], [id]), FORBIDDEN);
    }
    refused(client(), await call(client(), keys["1"], ["1", "1"]), FORBIDDEN);
  });

  it("gets without exactly one id INVALID_ARGUMENT, which names the header", async () => {
    const malformed = ["07", "+7", "-1", "0", "1.0", "1e0", "0x1", "1,1", "1 1", "one"];
    const tooLarge = ["18446744073709551616", "99999999999999999999", "1".repeat(21)];
    for (const id of some([...malformed, ...tooLarge])) {
      refused(client(), await call(client(), serviceKey, [id]), MALFORMED);
    }
    refused(client(), await call(client(), serviceKey), MALFORMED);
    refused(client(), await call(client(), serviceKey, ["1", "1"]), MALFORMED);
    refused(client(), await call(client(), serviceKey, ["1", "2"]), MALFORMED);
  });

  it("is refused with a service key where none is accepted, as with any invalid key", async () => {
    refused(
      clients.off.get(name),
      await call(clients.off.get(name), serviceKey, ["1"]),
      UNAUTHENTICATED,
    );
    const byDefault = clients.grpc.get(name);
    const outcome = await call(byDefault, serviceKey, ["1"]);
    if (byDefault.protocol === "grpc") expect(outcome).toHaveProperty("response");
    else refused(byDefault, outcome, UNAUTHENTICATED);
  });
});
