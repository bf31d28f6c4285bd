/** The standard health service: for the server as a whole ("") and for the RevenueService. */
import type { Client } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { grpcClient } from "../service/grpc-door.ts";
import { checkHealth, listHealth, watchHealth } from "../service/health.ts";
import { smallLedger } from "../service/ledger.ts";
import { until } from "../service/poll.ts";
import { type Stage, setStage } from "../service/stage.ts";

let stage: Stage;
let client: Client;
beforeAll(async () => {
  stage = await setStage(smallLedger);
  client = grpcClient(stage.service.grpc);
});
afterAll(async () => {
  client?.close();
  await stage?.strike();
});

describe.each(["", "revenue.v1.RevenueService"])('the health of "%s"', (service) => {
  it("is SERVING, without a key", async () => {
    expect(await checkHealth(client, service)).toBe("SERVING");
  });

  it("is told at once to who watches it", async () => {
    const watch = watchHealth(client, service);
    await until(2_000, () => watch.seen.length > 0);
    watch.cancel();
    await watch.over;
    expect(watch.seen.map(({ status }) => status)).toEqual(["SERVING"]);
  });
});

it("lists both names", async () => {
  expect(await listHealth(client)).toEqual({
    "": "SERVING",
    "revenue.v1.RevenueService": "SERVING",
  });
});

it("does not know others", async () => {
  await expect(checkHealth(client, "revenue.v1.Other")).rejects.toThrow("NOT_FOUND");
});
