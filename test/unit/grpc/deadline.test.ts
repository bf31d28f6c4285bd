/** Deadlines of gRPC calls, which grpc-js and the pipeline both watch. */
import { once } from "node:events";
import type { ClientHttp2Stream } from "node:http2";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { until } from "../../support/poll.ts";
import {
  EMPTY,
  listen,
  OVERVIEW,
  openSession,
  openStream,
  statusOf,
  type TestServer,
} from "./grpc-server.ts";

/** Starts a call that is not answered. */
async function startCall(timeout: string): Promise<TestServer & { stream: ClientHttp2Stream }> {
  const server = await listen({}, () => new Promise<never>(() => {}));
  const session = openSession(server.port);
  await once(session, "remoteSettings");
  const stream = openStream(session, OVERVIEW, { "grpc-timeout": timeout });
  stream.end(EMPTY);
  await until(() => server.calls.length > 0);
  return { ...server, stream };
}

it("a call that grpc-js ends at its deadline is left to the pipeline, which logs it so", async () => {
  const { calls, stream } = await startCall("500m");
  expect(await statusOf(stream)).toBe("4 Deadline exceeded");
  await nextTurn();
  expect(calls[0]?.signal.aborted).toBe(false);
});

it("a call that is cancelled before its deadline is aborted", async () => {
  const { calls, stream } = await startCall("1H");
  stream.close(8);
  await until(() => calls[0]?.signal.aborted === true);
});
