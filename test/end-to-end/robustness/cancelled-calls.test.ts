/** A client that cancels thousands of calls, and makes others on the same channel. */
import { Metadata, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callGrpc, grpcClient } from "../../support/clients/grpc-client.ts";
import { withKey } from "../../support/request.ts";
import { inParallel } from "./traffic/connections.ts";
import { createTarget, KEY, type Target } from "./traffic/target.ts";

const CANCELS = 6_000;
const PATH = "/revenue.v1.RevenueService/GetOverview";

let target: Target;
beforeAll(async () => {
  target = await createTarget();
});
afterAll(() => target?.dispose());

it("6,000 cancelled calls fail no other call of the client", { timeout: 90_000 }, async () => {
  const client = grpcClient(target.service().grpc);
  const metadata = new Metadata();
  for (const [name, value] of withKey(KEY)) metadata.set(name, value);

  /** Makes a call and cancels it after a delay in milliseconds. Resolves to its status. */
  const cancelled = (delay: number) =>
    new Promise<string>((resolve) => {
      const bytes = (message: Buffer) => message;
      const call = client.makeUnaryRequest(PATH, bytes, bytes, Buffer.alloc(0), metadata, (error) =>
        resolve(error === null ? "OK" : (status[error.code] ?? "")),
      );
      setTimeout(() => call.cancel(), delay);
    });

  const outcomes = new Set<string>();
  const others = new Set<string>();
  let ended = false;
  const other = async () => {
    while (!ended) {
      const outcome = await callGrpc(client, { method: "GetOverview", headers: withKey(KEY) });
      others.add("response" in outcome ? "OK" : `${outcome.code}: ${outcome.message}`);
    }
  };
  const running = Array.from({ length: 5 }, other);
  // Some 500 a second: Node counts a cancelled stream as open until the end of its turn of the event
  // loop, so that on a busy machine a faster client could reach the 250 streams of a connection.
  await inParallel(Array(CANCELS).keys(), 5, async (index) => {
    outcomes.add(await cancelled(5 + (index % 10)));
  });
  ended = true;
  await Promise.all(running);
  client.close();
  expect([...others]).toEqual(["OK"]);
  expect([...outcomes].filter((outcome) => outcome !== "OK")).toEqual(["CANCELLED"]);
  await target.expectUnharmed("cancelled calls");
});
