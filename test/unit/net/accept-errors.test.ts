/** Errors of accept(2) on the two public ports. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server } from "node:net";
import { expect, it } from "vitest";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { handleOverview, listen as listenHttp } from "../gateway/gateway.ts";
import { call, listen as listenGrpc, openSession } from "../grpc/grpc-server.ts";

const LISTENING = "tracing:net.server.listen:asyncStart";

it("a connection that cannot be accepted is reported, and the next ones are served", async () => {
  const events: string[] = [];
  const report = (event: string) => void events.push(event);
  const servers: Server[] = [];
  const see = (message: unknown) => void servers.push((message as { server: Server }).server);
  subscribe(LISTENING, see);
  const { url } = await listenHttp(RevenueService, handleOverview, undefined, { report });
  const { port } = await listenGrpc({ report });
  unsubscribe(LISTENING, see);
  const failed = Object.assign(new Error("accept ENOBUFS"), { code: "ENOBUFS", syscall: "accept" });
  for (const server of servers) expect(server.emit("error", failed)).toBe(true);
  expect(events).toEqual(["acceptFailed", "acceptFailed"]);
  expect((await fetch(`${url}/api/provider/revenue`)).status).toBe(200);
  expect(await call(openSession(port))).toBe("0 OK");
});
