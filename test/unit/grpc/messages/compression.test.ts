/** Compressed messages are recognized by their first bytes: no other message starts like them. */
import { deflateSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { RevenueService } from "../../../../gen/revenue/v1/revenue_pb.ts";
import { decompress } from "../../../../src/grpc/messages/compression.ts";

/** The field whose tag, as an integer, is the first byte of zlib. */
const ZLIB_FIELD = 0x78 >> 3;

it.each(RevenueService.methods.map(({ input }) => input))("%s reserves field 15", (message) => {
  const { reservedRange } = message.proto;
  expect(reservedRange.some(({ start, end }) => start <= ZLIB_FIELD && ZLIB_FIELD < end)).toBe(
    true,
  );
});

it("a message is what was compressed, or what came", () => {
  const message = Buffer.from("message");
  expect(decompress(gzipSync(message))).toEqual(message);
  expect(decompress(deflateSync(message))).toEqual(message);
  expect(decompress(message)).toBe(message);
});
