/** The standard health service, which needs no key: https://github.com/grpc/grpc/blob/master/doc/health-checking.md */
import { Code } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { healthOf } from "../../support/clients/health.ts";
import { listen } from "./grpc-server.ts";

const SERVICE = "revenue.v1.RevenueService";

it("tells whether the server and its service may be called, and a watch every change, until its client leaves", async () => {
  const { port, server } = await listen();
  const health = healthOf(`127.0.0.1:${port}`);
  const watch = health.watch(SERVICE);
  for (const status of ["SERVING", "NOT_SERVING"]) {
    expect(await watch.next()).toMatchObject({ value: status });
    for (const service of ["", SERVICE]) expect(await health.check(service)).toBe(status);
    server.setServing(false);
  }
  await watch.return(undefined);
});

it("another service is not known, and a watch of it waits for it", async () => {
  const health = healthOf(`127.0.0.1:${(await listen()).port}`);
  await expect(health.check("revenue.v1.Other")).rejects.toMatchObject({ code: Code.NotFound });
  const watch = health.watch("revenue.v1.Other");
  expect(await watch.next()).toMatchObject({ value: "SERVICE_UNKNOWN" });
  await watch.return(undefined);
});
