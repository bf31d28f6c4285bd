/** The limits in the documentation are those of the code. */
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CONNECT_TIMEOUT, knexConfig } from "../../src/db/pool.ts";
import { HTTP_LIMITS } from "../../src/gateway/http/http-server.ts";
import { MAX_RESETS } from "../../src/grpc/reset-limit.ts";
import { ADMISSION_LIMITS } from "../../src/rpc/admission.ts";
import { MAX_MESSAGE_BYTES } from "../../src/rpc/call.ts";
import { MAX_CALL_MS } from "../../src/rpc/deadline.ts";
import { createFixture, type Fixture } from "../support/service/fixture.ts";
import { smallLedger } from "../support/small-ledger.ts";
import { page, tableWith } from "./markdown.ts";

const table = new Map(
  tableWith("limit", "value", "beyond it", "what an operator sees").map(([limit, value]) => [
    limit,
    value,
  ]),
);

const UNITS: Readonly<Record<string, number>> = { "": 1, s: 1000, KiB: 1024 };

/** The value of a row of the table: a count, ms or bytes. */
function limit(name: string): number {
  const [, digits, unit = ""] = /^([\d,]+)(?: (s|KiB))?$/.exec(table.get(name) ?? "") ?? [];
  if (digits === undefined) throw new Error(`the table has no limit "${name}"`);
  return Number(digits.replaceAll(",", "")) * (UNITS[unit] ?? Number.NaN);
}

/** The number in the only place of a page that matches; `group` is its digits. */
function numberIn(path: string, pattern: RegExp): number {
  const matches = [...page(path).matchAll(new RegExp(pattern, "gi"))];
  if (matches.length !== 1) throw new Error(`${path} has ${matches.length} times ${pattern}`);
  return Number(matches[0]?.[1]?.replaceAll(",", ""));
}

const url = { host: "127.0.0.1", database: "revenue" };

const WAITING = "requests waiting on an HTTP/1.1 connection (pipelining)";
const STREAMS = "calls in flight on a gRPC connection";
const STOP = "calls in flight at a stop";

describe("the table of limits has the constants of the code:", () => {
  const constants: Readonly<Record<string, number | undefined>> = {
    "time of a call": MAX_CALL_MS,
    "calls in flight": ADMISSION_LIMITS.total,
    "calls in flight of one provider": ADMISSION_LIMITS.perProvider,
    "connections to the database": knexConfig(url).pool?.max,
    "wait for a connection to the database": CONNECT_TIMEOUT,
    "headers of an HTTP request": HTTP_LIMITS.maxHeaderSize,
    "time until the headers have arrived": HTTP_LIMITS.headersTimeout,
    "time until the request has arrived": HTTP_LIMITS.requestTimeout,
    "message to Connect, gRPC-Web or gRPC": MAX_MESSAGE_BYTES,
    "cancelled calls on a gRPC connection": MAX_RESETS,
    "one exchange on an HTTP/1.1 connection, until the client has read the last byte":
      HTTP_LIMITS.exchangeTimeout,
    "silence on an HTTP/1.1 connection during a request": HTTP_LIMITS.connectionTimeout,
    "idle HTTP/1.1 connection": HTTP_LIMITS.keepAliveTimeout,
  };

  it.each(Object.entries(constants))("%s", (name, value) => {
    expect(limit(name)).toBe(value);
  });

  it("and no limit that is not compared", () => {
    const compared = [...Object.keys(constants), WAITING, STREAMS, STOP];
    expect([...table.keys()].sort()).toEqual(compared.sort());
  });
});

describe("the other limits of the table are those of a running service:", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createFixture(smallLedger);
  });
  afterAll(() => fixture?.dispose());

  it(WAITING, async () => {
    const { hostname, port } = new URL(fixture.service.http);
    /** The statuses of the responses to pipelined requests; the last request closes the connection. */
    async function pipelined(count: number): Promise<string[]> {
      const request = (header: string) => `GET / HTTP/1.1\r\nhost: x\r\n${header}\r\n`;
      const socket = connect(Number(port), hostname);
      socket.write(request("").repeat(count - 1) + request("connection: close\r\n"));
      return (await text(socket)).match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];
    }
    // The first request is handled at once; the others wait.
    const most = 1 + limit(WAITING);
    expect(await pipelined(most)).toEqual(Array(most).fill("404"));
    expect((await pipelined(most + 1)).at(-1)).toBe("429");
  });

  it(STREAMS, async () => {
    const session = connectHttp2(`http://${fixture.service.grpc}`);
    await once(session, "remoteSettings");
    expect(session.remoteSettings.maxConcurrentStreams).toBe(limit(STREAMS));
    session.destroy();
  });

  it(STOP, async () => {
    expect(await fixture.service.stop()).toBe(0);
    const line = fixture.service.log().find(({ msg }) => /^stopping\b/.test(String(msg)));
    const seconds = /calls in flight have (\d+) s to finish/i;
    expect(Number(seconds.exec(String(line?.msg))?.[1]) * 1000).toBe(limit(STOP));
    expect(numberIn("docs/operations.md", seconds) * 1000).toBe(limit(STOP));
  });
});

describe("the same numbers elsewhere:", () => {
  it("calls in flight in the table of errors", () => {
    const { perProvider, total } = ADMISSION_LIMITS;
    expect(numberIn("docs/api.md", /the provider has ([\d,]+) calls in flight/)).toBe(perProvider);
    expect(numberIn("docs/api.md", /the service has ([\d,]+) calls in flight/)).toBe(total);
  });

  it("the time of a call", () => {
    for (const pattern of [
      /deadline \((\d+) s, or the client's own\)/,
      /A call takes (\d+) s at most/,
      /is honoured, up to (\d+) s\./,
    ]) {
      expect(numberIn("docs/api.md", pattern) * 1000).toBe(MAX_CALL_MS);
    }
    expect(numberIn("docs/operations.md", /the server ends it after (\d+) s/) * 1000).toBe(
      MAX_CALL_MS,
    );
  });
});
