/** The sizes of messages and headers. */
import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { frame as grpcMessage } from "../../support/clients/raw-clients.ts";
import { listen, OVERVIEW, openSession, openStream, statusOf } from "./grpc-server.ts";

/** A message of this many bytes, with fields that the server ignores. */
const message = (size: number) =>
  Buffer.concat([Buffer.from([0xfa, 0x7f, size - 3]), Buffer.alloc(size - 3)]);

it.each([
  ["is served up to the limit", message(100), 100, /^0 /],
  ["is refused beyond it", message(101), 100, /^8 /],
])("a message %s", async (_, bytes, maxMessageBytes, expected) => {
  const { port } = await listen({ maxMessageBytes });
  const stream = openStream(openSession(port));
  stream.end(grpcMessage(bytes));
  expect(await statusOf(stream)).toMatch(expected);
});

it("a message that is too large when it is decompressed is refused", async () => {
  const { port } = await listen({ maxMessageBytes: 100 });
  const compressed = gzipSync(message(120));
  expect(compressed.length).toBeLessThan(100);
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
