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

const [OK, INVALID_ARGUMENT, DEADLINE_EXCEEDED, UNAUTHENTICATED] = ["0", "3", "4", "16"];

it("answers a call with one authorization", async () => {
  expect(await call(["authorization", `Bearer ${fixture.key}`])).toBe(OK);
});

it("refuses two authorizations, also if the first one is valid", async () => {
  const valid: [string, string] = ["authorization", `Bearer ${fixture.key}`];
  expect(await call(valid, valid)).toBe(UNAUTHENTICATED);
  expect(await call(valid, ["authorization", "Bearer x"])).toBe(UNAUTHENTICATED);
});

it.each(["99999999H", "99999999M", "2147484S", "600H"])(
  "treats a timeout of %s as the longest deadline",
  async (timeout) => {
    expect(await call(["x-api-key", fixture.key], ["grpc-timeout", timeout])).toBe(OK);
  },
);

it("keeps a timeout within the range of a timer", async () => {
  expect(await call(["x-api-key", fixture.key], ["grpc-timeout", "2147483S"])).toBe(OK);
  expect(await call(["x-api-key", fixture.key], ["grpc-timeout", "1n"])).toBe(DEADLINE_EXCEEDED);
});

it.each(["soon", "-1S", "123456789S", "5", "1.5S", "1s"])(
  "refuses a timeout of %s as an invalid argument",
  async (timeout) => {
    expect(await call(["x-api-key", fixture.key], ["grpc-timeout", timeout])).toBe(
      INVALID_ARGUMENT,
    );
  },
);
