/** gRPC requests whose headers are ambiguous, malformed or out of range. */
import { once } from "node:events";
import { connect } from "node:http2";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, it } from "vitest";
import { GetOverviewRequestSchema } from "../../../gen/revenue/v1/revenue_pb.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

/** Allows sending a header twice. The types lack this option of `connect`. */
const ALLOW_REPEATED: object = { strictSingleValueFields: false };

/** Calls GetOverview with headers as they are given. Resolves to the gRPC status. */
async function call(...headers: readonly [string, string][]): Promise<string> {
  const session = connect(`http://${fixture.service.grpc}`, ALLOW_REPEATED);
  try {
    const stream = session.request([
      ...[":method", "POST", ":path", "/revenue.v1.RevenueService/GetOverview"],
      ...["content-type", "application/grpc", "te", "trailers"],
      ...headers.flat(),
    ]);
    const message = toBinary(GetOverviewRequestSchema, create(GetOverviewRequestSchema));
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    stream.end(Buffer.concat([prefix, message]));
    let status = "";
    stream.on("response", (head) => {
      status ||= String(head["grpc-status"] ?? "");
    });
    stream.on("trailers", (trailers) => {
      status ||= String(trailers["grpc-status"] ?? "");
    });
    stream.resume();
    await once(stream, "close");
    return status;
  } finally {
    session.close();
  }
}

const [OK, DEADLINE_EXCEEDED, INTERNAL, UNAUTHENTICATED] = ["0", "4", "13", "16"];

it("answers a call with one key", async () => {
  expect(await call(["authorization", `Bearer ${fixture.key}`])).toBe(OK);
  expect(await call(["x-api-key", fixture.key])).toBe(OK);
});

it("refuses two keys, also if they are the same", async () => {
  const inBoth: [string, string][] = [
    ["x-api-key", fixture.key],
    ["authorization", `Bearer ${fixture.key}`],
  ];
  expect(await call(...inBoth)).toBe(UNAUTHENTICATED);
  expect(await call(["x-api-key", fixture.key], ["x-api-key", fixture.key])).toBe(UNAUTHENTICATED);
});

// Node drops the others: https://nodejs.org/api/http.html#messageheaders
it("reads the first of several authorizations", async () => {
  const valid: [string, string] = ["authorization", `Bearer ${fixture.key}`];
  const other: [string, string] = ["authorization", "Bearer x"];
  expect(await call(valid, other)).toBe(OK);
  expect(await call(other, valid)).toBe(UNAUTHENTICATED);
});

it("keeps a timeout of up to 24 days", async () => {
  expect(await call(["x-api-key", fixture.key], ["grpc-timeout", "2073600S"])).toBe(OK);
  expect(await call(["x-api-key", fixture.key], ["grpc-timeout", "1n"])).toBe(DEADLINE_EXCEEDED);
});

it("refuses a timeout that is none", async () => {
  expect(await call(["x-api-key", fixture.key], ["grpc-timeout", "soon"])).toBe(INTERNAL);
});
