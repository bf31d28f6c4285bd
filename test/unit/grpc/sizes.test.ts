/** The sizes of messages and headers. */
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { MAX_MESSAGE_BYTES } from "../../../src/rpc/call.ts";
import { frame as grpcMessage } from "../../support/clients/raw-clients.ts";
import { listen, OVERVIEW, openSession, openStream, statusOf } from "./grpc-server.ts";

/** A message of this many bytes, with a field that the server ignores. */
function message(size: number): Buffer {
  const length = size - 5; // a tag of two bytes, and a length of three
  const prefix = [0xfa, 0x7f, (length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14];
  return Buffer.concat([Buffer.from(prefix), Buffer.alloc(length)]);
}

it.each([
  ["is served up to the limit", MAX_MESSAGE_BYTES, /^0 /],
  ["is refused beyond it", MAX_MESSAGE_BYTES + 1, /^8 /],
])("a message %s", async (_, bytes, expected) => {
  const { port } = await listen();
  const stream = openStream(openSession(port));
  stream.end(grpcMessage(message(bytes)));
  expect(await statusOf(stream)).toMatch(expected);
});

it("a message that is too large when it is decompressed is refused", async () => {
  const { port } = await listen();
  const compressed = gzipSync(message(MAX_MESSAGE_BYTES + 1));
  expect(compressed.length).toBeLessThan(1_000);
  const stream = openSession(port).request({
    ...{ ":method": "POST", ":path": OVERVIEW, "content-type": "application/grpc", te: "trailers" },
    "grpc-encoding": "gzip",
  });
  stream.end(grpcMessage(compressed, 1));
  expect(await statusOf(stream)).toMatch(/^8 /);
});

it.each([
  ["are accepted up to the limit", 20_000, /^0 /],
  ["reset the stream beyond it", 4_096, /^closed$/],
])("headers %s", async (_, maxHeaderSize, expected) => {
  const { port } = await listen({ maxHeaderSize });
  const session = openSession(port);
  await once(session, "remoteSettings");
  const stream = session.request({
    ...{ ":method": "POST", ":path": OVERVIEW, "content-type": "application/grpc", te: "trailers" },
    "x-large": "x".repeat(8_000),
  });
  stream.on("error", () => {});
  stream.end(grpcMessage(Buffer.alloc(0)));
  expect(await statusOf(stream)).toMatch(expected);
});
