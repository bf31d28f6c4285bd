/** What only the gRPC port has: reflection, as `buf curl` uses it, and metadata. */
import { randomUUID } from "node:crypto";
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from "node:http2";
import { finished } from "node:stream/promises";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { bufCurl } from "../../support/clients/buf-curl.ts";
import { METHODS } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { EMPTY, OVERVIEW, openStream } from "../../unit/grpc/grpc-server.ts";

const SERVICE = "revenue.v1.RevenueService";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

// That it is enough for a call: the client "buf curl, gRPC, reflection" of same-response.test.ts.
it.each(["grpc-v1", "grpc-v1alpha"])(
  "by reflection %s, buf curl lists every RPC",
  async (version) => {
    const options = [
      "--protocol",
      "grpc",
      "--http2-prior-knowledge",
      "--reflect-protocol",
      version,
    ];
    const list = await bufCurl([...options, "--list-methods", `http://${fixture.service.grpc}`]);
    expect(list.stderr).toBe("");
    const listed = METHODS.map((method) => `${SERVICE}/${method}`);
    const expected = [...listed, "grpc.health.v1.Health/Check"];
    expect(list.stdout.split("\n")).toEqual(expect.arrayContaining(expected));
  },
);

/** Calls GetOverview on a session. Resolves to the headers and the trailers. */
async function call(session: ClientHttp2Session) {
  const sent = { "x-api-key": fixture.key, "x-request-id": randomUUID() };
  const stream = openStream(session, OVERVIEW, sent);
  const received: IncomingHttpHeaders[] = [];
  stream.on("response", (headers) => received.push(headers));
  stream.on("trailers", (trailers) => received.push(trailers));
  await finished(stream.end(EMPTY).resume());
  return received;
}

it("data-as-of is a trailer, and no call adds to what the client has to remember", async () => {
  const session = connect(`http://${fixture.service.grpc}`);
  onTestFinished(() => session.destroy());
  const [headers, trailers] = await call(session);
  expect(headers).not.toHaveProperty("data-as-of");
  expect(trailers).toMatchObject({ "grpc-status": "0", "data-as-of": expect.any(String) });
  // Request ids and instants of 30 calls would fill the table of 4,096 bytes; dates add little.
  for (let count = 0; count < 30; count++) await call(session);
  expect(session.state.inflateDynamicTableSize).toBeLessThan(2_000);
});
