/** Responses that clients do not read: of those that need no key, the gateway says so. */
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { GetOverviewResponseSchema, RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { until } from "../../support/poll.ts";
import { listen, open } from "./gateway.ts";

/** More than the sockets of both ends buffer. */
const LARGE = 20_000_000;
const FILE = { path: "/file", type: "text/plain", body: Buffer.alloc(LARGE, "x") };

const RESPONSE = create(GetOverviewResponseSchema, {
  serverRevenue: [{ serverName: "x".repeat(LARGE) }],
});

it("files are public, and answers of calls are not, also on one connection", async () => {
  const { port, unread } = await listen(RevenueService, () => RESPONSE, undefined, { web: [FILE] });
  const client = open(port);
  for (const [path, isPublic] of [
    [FILE.path, true],
    ["/api/provider/revenue", false],
  ] as const) {
    const found = () => [...unread()].map((one) => one.isPublic);
    client.pause().write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await until(() => found().length === 1);
    expect(found()).toEqual([isPublic]);
    client.resume();
    await until(() => found().length === 0);
  }
});
