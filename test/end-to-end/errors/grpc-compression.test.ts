/** Compressed gRPC messages: decompressed with a bound, and an error of the client if they are broken. */
import { once } from "node:events";
import { connect } from "node:http2";
import { deflateSync, gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GetServerBreakdownRequestSchema } from "../../../gen/revenue/v1/revenue_pb.ts";
import { frame } from "../../support/clients/raw-clients.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

const BREAKDOWN = "/revenue.v1.RevenueService/GetServerBreakdown";
const HEALTH = "/grpc.health.v1.Health/Check";
const MESSAGE = Buffer.from(
  toBinary(
    GetServerBreakdownRequestSchema,
    create(GetServerBreakdownRequestSchema, { startDate: "2024-03-01", endDate: "x".repeat(50) }),
  ),
);
const COMPRESSED = 1;
const [OK, INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNIMPLEMENTED, UNAUTHENTICATED] =
  "0 3 8 12 16".split(" ");

interface Request {
  readonly encoding: string;
  readonly body: Buffer;
  readonly path?: string;
  readonly key?: string;
}

/** Makes a call. Resolves to its status and its message. */
async function call({ encoding, body, path = BREAKDOWN, key = fixture.key }: Request) {
  const session = connect(`http://${fixture.service.grpc}`);
  const stream = session.request({
    ...{ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" },
    ...{ "x-api-key": key, "grpc-encoding": encoding },
  });
  const received = { status: "", message: "" };
  const read = (headers: NodeJS.Dict<string | string[] | number>) => {
    if (headers["grpc-status"] === undefined) return;
    received.status = `${headers["grpc-status"]}`;
    received.message = decodeURIComponent(`${headers["grpc-message"]}`);
  };
  stream.on("response", read).on("trailers", read).resume().end(body);
  await once(stream, "close");
  session.close();
  return received;
}

describe.each([
  ["gzip", gzipSync],
  ["deflate", deflateSync],
] as const)("%s", (encoding, compress) => {
  it("a compressed message is read", async () => {
    const { status, message } = await call({
      encoding,
      body: frame(compress(MESSAGE), COMPRESSED),
    });
    expect(status).toBe(INVALID_ARGUMENT);
    expect(message).toMatch(/^endDate: .*got "x+/);
    const empty = compress(Buffer.alloc(0));
    expect(await call({ encoding, body: frame(empty, COMPRESSED) })).toMatchObject({ status: OK });
    const health = { encoding, path: HEALTH, body: frame(empty, COMPRESSED) };
    expect(await call(health)).toMatchObject({ status: OK });
  });

  it("a message may be sent without compression all the same", async () => {
    expect(await call({ encoding, body: frame(Buffer.alloc(0)) })).toMatchObject({ status: OK });
  });

  it.each([BREAKDOWN, HEALTH])("broken, it is an invalid argument of %s", async (path) => {
    const truncated = compress(MESSAGE).subarray(0, 20);
    for (const broken of [Buffer.from("abc"), truncated]) {
      const body = frame(broken, COMPRESSED);
      expect(await call({ encoding, path, body })).toMatchObject({ status: INVALID_ARGUMENT });
    }
  });

  it("broken, with an invalid key it is UNAUTHENTICATED", async () => {
    const body = frame(compress(MESSAGE).subarray(0, 20), COMPRESSED);
    expect(await call({ encoding, key: "x", body })).toMatchObject({ status: UNAUTHENTICATED });
  });

  it("too large once it is decompressed, it is RESOURCE_EXHAUSTED", async () => {
    const body = frame(compress(Buffer.alloc(10_000_000)), COMPRESSED);
    expect(await call({ encoding, body })).toMatchObject({ status: RESOURCE_EXHAUSTED });
  });
});

it("another compression is UNIMPLEMENTED", async () => {
  const body = frame(MESSAGE, COMPRESSED);
  expect(await call({ encoding: "br", body })).toMatchObject({ status: UNIMPLEMENTED });
});

it("none of these is logged as an internal error", () => {
  expect(fixture.service.log().filter(({ level }) => level === "error")).toEqual([]);
});
