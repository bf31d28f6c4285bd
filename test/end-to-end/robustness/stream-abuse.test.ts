/** Streams of gRPC that would fill the memory of a service that keeps what it need not. */
import { connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { watchHealth } from "../../support/clients/health.ts";
import { frame } from "../../support/clients/raw-clients.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { until } from "../../support/poll.ts";
import { withKey } from "../../support/request.ts";
import { inParallel } from "./traffic/connections.ts";
import { type Growth, measureGrowth } from "./traffic/memory.ts";
import { KEY, setTarget, type Target } from "./traffic/target.ts";

/** MiB by which the process may grow. */
const LARGEST_GROWTH = 100;
/** How long the client asks, in milliseconds. */
const DURATION = 6_000;
/** The longest that a good call may take meanwhile, in milliseconds. */
const LONGEST_CALL = 1_000;

let target: Target;
let growth: Growth;
beforeAll(async () => {
  target = await setTarget({ NODE_OPTIONS: "--max-old-space-size=96" });
});
afterAll(() => target?.dispose());
beforeEach(async () => {
  await target.revive();
  growth = await measureGrowth();
});
afterEach(() => {
  growth?.stop();
});

it("2,000 health watches with names of 60 KB, each cancelled, take no memory", async () => {
  const client = grpcClient(target.service().grpc);
  const name = "x".repeat(60_000);
  await inParallel(Array(2_000).keys(), 20, async (index) => {
    const watch = watchHealth(client, `${index}${name}`);
    const over = watch.over.then(() => true);
    await Promise.race([over, until(10_000, () => watch.seen.length > 0)]);
    watch.cancel();
    await over;
  });
  client.close();
  await target.expectUnharmed("health watches");
  expect(growth.stop()).toBeLessThan(LARGEST_GROWTH);
});

/** How long a good call takes, in milliseconds, each tenth of a second. */
async function callTimes(duration: number): Promise<number[]> {
  const took: number[] = [];
  for (const began = performance.now(); performance.now() < began + duration; ) {
    const asked = performance.now();
    const headers = withKey(KEY);
    await rawHttp(target.service().http, { target: "/api/provider/revenue", headers });
    took.push(performance.now() - asked);
    await sleep(100);
  }
  return took;
}

/** A reflection request for the file that declares RevenueService. */
const ASK = frame(
  new BinaryWriter().tag(4, WireType.LengthDelimited).string("revenue.v1.RevenueService").finish(),
);
const ASKS = Buffer.concat(Array<Buffer>(200).fill(ASK));

it.each(["v1", "v1alpha"])(
  "reflection (%s) that is asked again and again and never read takes no memory and no time",
  async (version) => {
    const session = connect(`http://${target.service().grpc}`).on("error", () => {});
    const stream = session.request({
      ":method": "POST",
      ":path": `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.on("error", () => {});
    let over = false;
    const ask = () => {
      if (!over && !stream.destroyed) stream.write(ASKS, ask);
    };
    ask();
    const took = await callTimes(DURATION);
    over = true;
    session.destroy();
    expect(Math.max(...took)).toBeLessThan(LONGEST_CALL);
    await target.expectUnharmed("reflection");
    expect(growth.stop()).toBeLessThan(LARGEST_GROWTH);
  },
);
