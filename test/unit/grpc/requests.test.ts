/** Headers of gRPC requests, which cost what they are once decoded, those of responses, and messages. */
import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http2";
import { setImmediate as nextTurn } from "node:timers/promises";
import { deflateSync, gzipSync } from "node:zlib";
import { Metadata } from "@grpc/grpc-js";
import { expect, it, onTestFinished } from "vitest";
import { MAX_MESSAGE_BYTES, ServiceError } from "../../../src/errors.ts";
import { decompress } from "../../../src/grpc/compression.ts";
import { reduceHeaders } from "../../../src/grpc/streams.ts";
import { rootFile } from "../../docs/markdown.ts";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { until } from "../../support/poll.ts";
import {
  EMPTY,
  emptyResponse,
  listen,
  OVERVIEW,
  openSession,
  openStream,
  statusOf,
} from "./grpc-server.ts";

it("those that nobody needs are left out, and those that are too long; what calls are made of stays", () => {
  const needed = {
    ":method": "POST",
    ":path": OVERVIEW,
    "content-type": "application/grpc",
    "x-api-key": "key",
    traceparent: "00-1-2-01",
  };
  const headers = {
    ...{ ...needed, "x-forwarded-for": "1.2.3.4, ".repeat(1_000) },
    ...{ "a-bin": "AA==,AA==", "x-other": "1", cookie: "a=b" },
  };
  reduceHeaders(headers);
  expect(headers).toEqual(needed);
});

it("a header that says who calls stays, cut, if it is too long: without it the call would be another one's", () => {
  const ids = "18446744073709551614, 18446744073709551615";
  const headers = { "x-api-key": "k".repeat(300), authorization: "Bearer k", "x-provider-id": ids };
  reduceHeaders(headers);
  expect(headers).toEqual({
    "x-api-key": "k".repeat(256),
    authorization: "Bearer k",
    "x-provider-id": ids.slice(0, 32),
  });
});

it("a long path is not sent back", async () => {
  const path = `/${"x".repeat(8_000)}`;
  const stream = openStream(openSession((await listen()).port), path);
  const response = once(stream.end(EMPTY), "response");
  expect(await statusOf(stream)).toContain("12 ");
  // nginx takes 4 KiB.
  expect(JSON.stringify((await response)[0]).length).toBeLessThan(1_024);
});

it.each([
  ["99999999H", undefined],
  ["61S", undefined],
  ["60S", "60S"],
  ["a", "a"],
])("a timeout of %s is %s", (timeout, expected) => {
  const headers: IncomingHttpHeaders = { "grpc-timeout": timeout };
  reduceHeaders(headers);
  expect(headers["grpc-timeout"]).toBe(expected);
});

it("the address of a call is that which a proxy forwards, and a timeout of more than 24 days is one", async () => {
  const { port, calls } = await listen();
  const headers = { "x-forwarded-for": "192.0.2.1", "grpc-timeout": "2147484S" };
  const stream = openStream(openSession(port), OVERVIEW, headers);
  stream.end(EMPTY);
  expect(await statusOf(stream)).toBe("0 OK");
  expect(calls[0]?.address).toBe("192.0.2.1");
  expect(calls[0]?.deadline).toBeGreaterThan(Date.now() + 30_000);
});

it.each([
  ["that grpc-js ends at its deadline is left to the pipeline, which logs it so", "500m", false],
  ["that is cancelled before its deadline is aborted", "1H", true],
])("a call %s", async (_, timeout, isAborted) => {
  const { port, calls } = await listen({}, () => new Promise<never>(() => {}));
  const stream = openStream(openSession(port), OVERVIEW, { "grpc-timeout": timeout });
  const status = statusOf(stream.end(EMPTY));
  await until(() => calls.length > 0);
  if (isAborted) stream.close(8);
  else expect(await status).toBe("4 Deadline exceeded");
  await nextTurn();
  await until(() => calls[0]?.signal.aborted === isAborted);
});

it("data-as-of is a trailer", async () => {
  const stream = openStream(openSession((await listen()).port));
  const [trailers] = await once(stream.end(EMPTY).resume(), "trailers");
  expect(trailers).toMatchObject({ "data-as-of": expect.any(String) });
});

it("a call that is refused comes again by gRPC's own retries, with the service config of the examples, when the answer says, until it succeeds", async () => {
  const { port, calls } = await listen({}, async () => {
    if (calls.length > 2) return emptyResponse;
    throw new ServiceError("rateLimited", "later", { metadata: { "retry-after": "0" } });
  });
  // By itself it would wait for longer than a call may take.
  const config = rootFile("examples/go/service-config.json").replace(
    /(?<=Backoff": ").*s/g,
    "9999s",
  );
  const client = grpcClient(`127.0.0.1:${port}`, { "grpc.service_config": config });
  onTestFinished(() => client.close());
  const pass = (bytes: Buffer) => bytes;
  const message = EMPTY.subarray(5);
  const error = await new Promise((resolve) =>
    client.makeUnaryRequest(OVERVIEW, pass, pass, message, new Metadata(), resolve),
  );
  expect(error).toBeNull();
  expect(calls).toHaveLength(3);
});

const MESSAGE = Buffer.from("0a0a323032362d30332d3031", "hex");

/** The message of a call whose `grpc-encoding` this is. */
function decompressed(encoding: string, message: Buffer): Buffer {
  const headers = { "grpc-encoding": encoding };
  reduceHeaders(headers);
  return decompress(message, Metadata.fromHttp2Headers(headers));
}

it.each([
  ["gzip", gzipSync(MESSAGE), MESSAGE],
  ["deflate", deflateSync(MESSAGE), MESSAGE],
  // Such as are not compressed, although the call says that they may be.
  ...[MESSAGE, Buffer.alloc(0)].flatMap((message) =>
    ["gzip", "deflate"].map((encoding) => [encoding, message, message] as const),
  ),
  ["identity", gzipSync(MESSAGE), gzipSync(MESSAGE)],
] as const)("with %s, the message %o is decompressed to %o", (encoding, message, expected) => {
  expect(decompressed(encoding, message)).toEqual(expected);
});

it.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
] as const)("with %s, a message may have 64 KiB once it is decompressed", (encoding, compress) => {
  const largest = Buffer.alloc(MAX_MESSAGE_BYTES, "x");
  expect(decompressed(encoding, compress(largest))).toEqual(largest);
  const larger = compress(Buffer.concat([largest, Buffer.of(0)]));
  expect(() => decompressed(encoding, larger)).toThrow(new ServiceError("messageTooLarge"));
});
