/** How the metadata of gRPC responses is encoded: see src/grpc/response-metadata.ts. */
import { once } from "node:events";
import {
  type ClientHttp2Session,
  connect,
  type IncomingHttpHeaders,
  sensitiveHeaders,
} from "node:http2";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { frame } from "../../support/clients/raw-clients.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

/** The names of the headers that came as literals that are never indexed. The types lack it. */
function neverIndexed(headers: IncomingHttpHeaders = {}): unknown {
  return Reflect.get(headers, sensitiveHeaders);
}

function openSession(): ClientHttp2Session {
  const session = connect(`http://${fixture.service.grpc}`);
  onTestFinished(() => session.destroy());
  return session;
}

/** Calls GetOverview. Resolves to the headers and the trailers, of which an error has none. */
async function call(session: ClientHttp2Session, key: string) {
  const stream = session.request({
    ...{ ":method": "POST", ":path": "/revenue.v1.RevenueService/GetOverview" },
    ...{ "content-type": "application/grpc", te: "trailers", "x-api-key": key },
  });
  const received: IncomingHttpHeaders[] = [];
  stream.on("response", (headers) => received.push(headers));
  stream.on("trailers", (trailers) => received.push(trailers));
  stream.end(frame(Buffer.alloc(0))).resume();
  await once(stream, "close");
  return received;
}

it("what differs in each call is sent as literals that are never indexed", async () => {
  const session = openSession();
  const [headers, trailers] = await call(session, fixture.key);
  expect(headers).toMatchObject({ "x-request-id": expect.any(String) });
  expect(neverIndexed(headers)).toEqual(["x-request-id"]);
  expect(trailers).toMatchObject({ "grpc-status": "0", "data-as-of": expect.any(String) });
  expect(neverIndexed(trailers)).toEqual(["data-as-of"]);

  const [error, ...rest] = await call(session, "unknown");
  expect(error).toMatchObject({ "grpc-status": "16", "x-request-id": expect.any(String) });
  expect(neverIndexed(error)).toContain("x-request-id");
  expect(rest).toEqual([]);
});

it("calls leave nothing but the date in the connection's dynamic table", async () => {
  const session = openSession();
  const sizeAfter = async (calls: number) => {
    for (let i = 0; i < calls; i++) await call(session, fixture.key);
    return session.state.inflateDynamicTableSize ?? Number.NaN;
  };
  const [start, first] = [performance.now(), await sizeAfter(1)];
  const last = await sizeAfter(30);
  expect(first).toBeGreaterThan(0);
  // RFC 7541, section 4.1: an entry is its name, its value and 32 bytes.
  const date = "date".length + new Date().toUTCString().length + 32;
  const seconds = Math.ceil((performance.now() - start) / 1_000);
  expect(last).toBeLessThanOrEqual(first + seconds * date);
  expect(last).toBeLessThan(1_000);
});
