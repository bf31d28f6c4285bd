/** The standard health service, which needs no key: https://github.com/grpc/grpc/blob/master/doc/health-checking.md */
import { Code } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { healthOf } from "../../support/clients/health.ts";
import { listen } from "./grpc-server.ts";

const SERVICE = "revenue.v1.RevenueService";

it.each([
  [true, "SERVING"],
  [false, "NOT_SERVING"],
])("if it may be called: %s, the server and the service are %s", async (isServing, status) => {
  const { port, server } = await listen();
  server.setServing(isServing);
  const health = healthOf(`127.0.0.1:${port}`);
  for (const service of ["", SERVICE]) expect(await health.check(service)).toBe(status);
  expect(await health.list()).toEqual({ "": status, [SERVICE]: status });
});

it("a watch tells every change, and ends when its client leaves", async () => {
  const { port, server } = await listen();
  const watch = healthOf(`127.0.0.1:${port}`).watch(SERVICE);
  expect(await watch.next()).toMatchObject({ value: "SERVING" });
  const next = watch.next();
  server.setServing(false);
  expect(await next).toMatchObject({ value: "NOT_SERVING" });
  await watch.return(undefined);
});

it("another service is not known, and a watch of it waits for it", async () => {
  const { port } = await listen();
  const health = healthOf(`127.0.0.1:${port}`);
  await expect(health.check("revenue.v1.Other")).rejects.toMatchObject({ code: Code.NotFound });
  const watch = health.watch("revenue.v1.Other");
  expect(await watch.next()).toMatchObject({ value: "SERVICE_UNKNOWN" });
  await watch.return(undefined);
});
