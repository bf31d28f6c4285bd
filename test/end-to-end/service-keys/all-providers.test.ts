/** ListProviderRevenue through every protocol: for service keys alone, and only where they are accepted. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PlatformRevenueService } from "../../../gen/revenue/v1/platform_pb.ts";
import { bufCurl } from "../../support/clients/buf-curl.ts";
import { type Outcome, type RpcClient, withoutHeaders } from "../../support/clients/client.ts";
import {
  ALL_CLIENTS,
  type Clients,
  FAST_CLIENTS,
  openClients,
} from "../../support/clients/clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { badRequest, errorThrough, FORBIDDEN } from "../../support/expected-error.ts";
import { paths } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { lockTable } from "../../support/service/table-lock.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const FOR_SERVICE_KEYS = "this RPC is for service keys alone";
const NOT_EXPECTED = "x-provider-id: expected none, because this RPC is about all providers";
const YEAR = { startDate: "2024-01-01", endDate: "2024-12-31" };

let fixture: Fixture;
let serviceKey: string;
let others: ServiceProcess[];
/** The clients of services by their setting. */
let clients: Readonly<Record<"grpc" | "all" | "off", Clients>>;
beforeAll(async () => {
  fixture = await createFixture(smallLedger, { SERVICE_KEYS: "all" });
  const { url } = fixture.database;
  others = await Promise.all([startService(url), startService(url, { SERVICE_KEYS: "off" })]);
  const [grpc, off] = others.map(openClients) as [Clients, Clients];
  clients = { grpc, all: fixture.clients, off };
  serviceKey = await fixture.issueServiceKey("finance");
});
afterAll(async () => {
  clients?.grpc.close();
  clients?.off.close();
  for (const service of others ?? []) await service.kill();
  await fixture?.dispose();
});

function call(client: RpcClient, key: string, message: object = YEAR, ids: readonly string[] = []) {
  const headers = [["x-api-key", key], ...ids.map((id) => ["x-provider-id", id] as const)] as const;
  return client.call({ method: "ListProviderRevenue", message, headers: headers as never });
}

/** The token of the next page. */
function tokenOf(outcome: Outcome): string {
  expect(outcome).toHaveProperty("response");
  return (outcome as unknown as { response: { nextPageToken: string } }).response.nextPageToken;
}

const usd = (value: string) => ({ value });
const FIRST = {
  providerId: "1",
  name: "first",
  grossRevenue: usd("4500.05"),
  refunds: usd("0.00"),
  platformFees: usd("450.01"),
  earnings: usd("4050.04"),
  charges: 2,
  rentedHours: usd("720.00"),
  completedPayouts: usd("4000.00"),
  otherPayouts: usd("0.00"),
  availableBalance: usd("1250.50"),
};

describe.each(ALL_CLIENTS)("%s", (name) => {
  const client = () => clients.all.get(name);

  it("gets a row for each provider, in pages, and no x-provider-id", async () => {
    const first = await call(client(), serviceKey, { ...YEAR, pageSize: 1 });
    expect(first).toMatchObject({
      response: {
        providers: [FIRST],
        startDate: "2024-01-01T00:00:00Z",
        endDate: "2024-12-31T23:59:59.999Z",
        timeZone: "UTC",
      },
    });
    const pageToken = tokenOf(first);
    const second = await call(client(), serviceKey, { ...YEAR, pageToken });
    expect(second).toMatchObject({
      response: { providers: [{ providerId: "2", grossRevenue: usd("0.00") }], nextPageToken: "" },
    });
    if (name.startsWith("buf")) return; // prints no headers
    expect(first.headers).toMatchObject({
      "next-page-token": pageToken,
      "data-as-of": expect.any(String),
    });
    expect(first.headers).not.toHaveProperty("x-provider-id");
  });

  it("is refused with a provider's key, whatever it names", async () => {
    for (const ids of [[], ["1"], ["2"]]) {
      const outcome = await call(client(), fixture.key, YEAR, ids);
      expect(withoutHeaders(outcome)).toEqual(
        errorThrough(client(), {
          ...FORBIDDEN,
          body: JSON.stringify({ error: "Forbidden", message: FOR_SERVICE_KEYS }),
          message: FOR_SERVICE_KEYS,
        }),
      );
    }
  });

  it("is refused with a service key that names a provider", async () => {
    const outcome = await call(client(), serviceKey, YEAR, ["1"]);
    expect(withoutHeaders(outcome)).toEqual(errorThrough(client(), badRequest(NOT_EXPECTED)));
  });
});

it.each(FAST_CLIENTS)(
  "%s finds it where service keys are accepted, and nowhere else",
  async (name) => {
    const isGrpc = name.startsWith("gRPC,");
    const unknown = isGrpc ? /^UNIMPLEMENTED$/ : /^(404|UNIMPLEMENTED)$/;
    for (const [setting, isServed] of [
      ["grpc", isGrpc],
      ["off", false],
    ] as const) {
      for (const key of [serviceKey, fixture.key]) {
        const outcome = await call(clients[setting].get(name), key);
        if (isServed && key === serviceKey) expect(outcome).toHaveProperty("response");
        else if (isServed) expect(outcome).toMatchObject({ code: "PERMISSION_DENIED" });
        else expect(outcome).toHaveProperty("code", expect.stringMatching(unknown));
      }
    }
  },
);

it("reflection lists the service, health knows it, and buf finds its RPC where it is served", async () => {
  const list = async (service: ServiceProcess) =>
    (
      await bufCurl([
        "--list-services",
        "--protocol",
        "grpc",
        "--http2-prior-knowledge",
        `http://${service.grpc}`,
      ])
    ).stdout;
  expect(await list(others[0] as ServiceProcess)).toContain(PlatformRevenueService.typeName);
  expect(await list(others[1] as ServiceProcess)).not.toContain(PlatformRevenueService.typeName);
});

it("as CSV it has a line for each provider, and the token of the next page in a header", async () => {
  const target = `${paths.ListProviderRevenue}?startDate=2024-01-01&endDate=2024-12-31&pageSize=1`;
  const headers = [
    ["x-api-key", serviceKey],
    ["accept", "text/csv"],
  ] as const;
  const response = await rawHttp(fixture.service.http, { target, headers });
  const [header, line, ...rest] = response.text.split("\r\n");
  expect(header).toBe(
    "providerId,name,grossRevenue,refunds,platformFees,earnings,charges,rentedHours,completedPayouts,otherPayouts,availableBalance,dataAsOf",
  );
  expect(line).toMatch(
    /^1,first,4500\.05,0\.00,450\.01,4050\.04,2,720\.00,4000\.00,0\.00,1250\.50,\d{4}-.*Z$/,
  );
  expect(rest).toEqual([""]);
  expect(response.headers["next-page-token"]).toMatch(/^[\w-]+$/);
});

it("a token goes on with another key, and after the process that gave it was killed", async () => {
  const service = await startService(fixture.database.url);
  const opened = openClients(service);
  const first = await call(opened.get("gRPC, grpc-js"), serviceKey, { ...YEAR, pageSize: 1 });
  opened.close();
  await service.kill();
  const pageToken = tokenOf(first);
  const otherKey = await fixture.issueServiceKey("finance, next year");
  const client = clients.grpc.get("gRPC, grpc-js");
  expect(await call(client, otherKey, { ...YEAR, pageToken })).toMatchObject({
    response: { providers: [{ providerId: "2" }], nextPageToken: "" },
  });
});

it("each line of a call names the service key, and no provider", async () => {
  const client = clients.all.get("REST");
  const { headers } = await call(client, serviceKey);
  const [line] = await fixture.service.logOf(headers["x-request-id"] ?? "");
  expect(line).toMatchObject({ method: "ListProviderRevenue", key: { name: "finance" } });
  expect(line).not.toHaveProperty("providerId");
});

it("does not delay the providers, whose connections are their own", async () => {
  await using lock = await lockTable(fixture.database, "charges");
  const client = clients.all.get("REST");
  const pages = [1, 2, 3, 4, 5].map((nth) =>
    call(client, serviceKey, { startDate: `2024-01-0${nth}`, endDate: "2024-12-31" }),
  );
  await lock.waitForQueries(2);
  const headers = [["x-api-key", fixture.key]] as const;
  expect(await client.call({ method: "ListPayouts", headers })).toHaveProperty("response");
  await lock.release();
  for (const page of await Promise.all(pages)) expect(page).toHaveProperty("response");
});
