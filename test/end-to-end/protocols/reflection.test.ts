/** Server reflection, in both versions that clients use. */
import type { Client } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bufCurl } from "../../support/clients/buf-curl.ts";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import {
  filesByName,
  filesContainingSymbol,
  listServices,
} from "../../support/clients/reflection.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
let client: Client;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
  client = grpcClient(fixture.service.grpc);
});
afterAll(async () => {
  client?.close();
  await fixture?.dispose();
});

describe.each(["v1", "v1alpha"] as const)("reflection %s", (version) => {
  it("lists the services", async () => {
    const services = await listServices(client, version);
    expect(services).toContain("revenue.v1.RevenueService");
    expect(services).toContain("grpc.health.v1.Health");
  });

  it.each([
    ["revenue.v1.RevenueService", "revenue/v1/revenue.proto"],
    ["revenue.v1.RevenueService.GetOverview", "revenue/v1/revenue.proto"],
    ["revenue.v1.Payout", "revenue/v1/revenue.proto"],
    ["google.type.Decimal", "google/type/decimal.proto"],
    ["grpc.health.v1.Health", "health/v1/health.proto"],
  ])("returns the file of %s", async (symbol, file) => {
    const files = await filesContainingSymbol(client, version, symbol);
    expect(files.map(({ name }) => name)).toContain(file);
  });

  it("returns every imported file by its name", async () => {
    const [first] = await filesContainingSymbol(client, version, "revenue.v1.RevenueService");
    const wanted = ["revenue/v1/revenue.proto", ...(first?.dependency ?? [])];
    const found = new Set<string>();
    for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
      const file = (await filesByName(client, version, name)).find((one) => one.name === name);
      expect(file, name).toBeDefined();
      found.add(name);
      wanted.push(...(file?.dependency ?? []).filter((other) => !found.has(other)));
    }
    expect([...found].sort()).toEqual([
      "gateway/v1/csv.proto",
      "google/api/annotations.proto",
      "google/api/http.proto",
      "google/protobuf/descriptor.proto",
      "google/protobuf/timestamp.proto",
      "google/type/decimal.proto",
      "revenue/v1/revenue.proto",
    ]);
  });
});

it("buf curl lists the methods by reflection", async () => {
  const { stdout, stderr } = await bufCurl([
    ...["--protocol", "grpc", "--http2-prior-knowledge", "--list-methods"],
    `http://${fixture.service.grpc}`,
  ]);
  expect(stderr).toBe("");
  expect(stdout.split("\n")).toContain("revenue.v1.RevenueService/GetOverview");
  expect(stdout.split("\n")).toContain("revenue.v1.RevenueService/GetServerBreakdown");
  expect(stdout.split("\n")).toContain("grpc.health.v1.Health/Check");
});
