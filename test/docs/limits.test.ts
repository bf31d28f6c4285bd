/** The limits in the documentation are those of the code. */
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FAILURES_PER_ADDRESS } from "../../src/auth/failure-limit.ts";
import { MAX_KEY_LOOKUPS } from "../../src/auth/key-queue.ts";
import { type Config, readConfig } from "../../src/config.ts";
import { POOL_SIZE } from "../../src/db/pool.ts";
import { POOL_WAIT } from "../../src/db/query.ts";
import { HTTP_LIMITS } from "../../src/gateway/http/limits.ts";
import { MAX_WATCHES } from "../../src/grpc/health.ts";
import { MAX_QUESTIONS_PER_SECOND, MAX_REFLECTIONS } from "../../src/grpc/reflection-limit.ts";
import { KEEPALIVE } from "../../src/grpc/server.ts";
import { MAX_CANCELS } from "../../src/grpc/sessions/cancel-throttle.ts";
import { FIRST_CALLS } from "../../src/grpc/sessions/connection.ts";
import { sessionLimits } from "../../src/grpc/sessions/limits.ts";
import {
  MAX_CONNECTIONS,
  MAX_CONNECTIONS_PER_ADDRESS,
  RESERVED_DESCRIPTORS,
} from "../../src/net/connection-limit.ts";
import { MAX_UNREAD_BYTES } from "../../src/net/unread.ts";
import { ADMISSION_LIMITS } from "../../src/rpc/admission.ts";
import { MAX_MESSAGE_BYTES } from "../../src/rpc/call.ts";
import { MAX_CALL_MS } from "../../src/rpc/deadline.ts";
import { ROWS_PER_TURN } from "../../src/rpc/large-results.ts";
import { HANDSHAKE_TIMEOUT } from "../../src/tls/termination.ts";
import { createFixture, type Fixture } from "../support/service/fixture.ts";
import { smallLedger } from "../support/small-ledger.ts";
import { limitRows, limitValue } from "./limit-rows.ts";
import { page } from "./markdown.ts";

/** The value of a row of the table: a count, ms or bytes. */
function limit(name: string): number {
  const row = limitRows.find((one) => one.limit === name);
  if (row === undefined) throw new Error(`the table has no limit "${name}"`);
  return Number(limitValue(row.value));
}

/** The number in the only place of a page that matches; `group` is its digits. */
function numberIn(path: string, pattern: RegExp): number {
  const matches = [...page(path).matchAll(new RegExp(pattern, "gi"))];
  if (matches.length !== 1) throw new Error(`${path} has ${matches.length} times ${pattern}`);
  return Number(matches[0]?.[1]?.replaceAll(",", ""));
}

const WAITING = "requests waiting on an HTTP/1.1 connection (pipelining)";
const KEY_LOOKUPS =
  "calls that wait for their API key to be looked up: keys that were valid before, and other keys, each";
const STOP = "calls in flight at a stop";

describe("the rows of the table without a variable have the constants of the code:", () => {
  const constants: Readonly<Record<string, number>> = {
    [KEY_LOOKUPS]: MAX_KEY_LOOKUPS,
    "failed authentications of one client address per second": FAILURES_PER_ADDRESS.rate,
    "failed authentications of one client address at once": FAILURES_PER_ADDRESS.burst,
    "wait for a connection to the database": POOL_WAIT,
    "calls at once on a new gRPC connection; one more for each response that it has read, one less for each that it cancels, down to 4":
      FIRST_CALLS,
    "cancelled calls on a gRPC connection, less two for each that is answered": MAX_CANCELS,
    "rows of large results (250 and more) in one turn of the event loop": ROWS_PER_TURN,
  };

  it.each(Object.entries(constants))("%s", (name, value) => {
    expect(limit(name)).toBe(value);
  });

  it("and none that is not compared", () => {
    const compared = Object.keys(constants);
    const constant = limitRows.filter(({ variable }) => variable === undefined);
    expect(constant.map((row) => row.limit).sort()).toEqual(compared.sort());
  });
});

it("the defaults of the parts are those of the settings", () => {
  const defaults: readonly Partial<Config>[] = [
    sessionLimits({}),
    {
      maxConnections: MAX_CONNECTIONS,
      maxConnectionsPerAddress: MAX_CONNECTIONS_PER_ADDRESS,
      reservedDescriptors: RESERVED_DESCRIPTORS,
      maxUnreadBytes: MAX_UNREAD_BYTES,
      requestTimeout: HTTP_LIMITS.requestTimeout,
      headersTimeout: HTTP_LIMITS.headersTimeout,
      keepAliveTimeout: HTTP_LIMITS.keepAliveTimeout,
      connectionTimeout: HTTP_LIMITS.connectionTimeout,
      maxPipelined: HTTP_LIMITS.maxPipelined,
      maxHeaderSize: HTTP_LIMITS.maxHeaderSize,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      handshakeTimeout: HANDSHAKE_TIMEOUT,
      ...KEEPALIVE,
      maxCall: MAX_CALL_MS,
      responseTimeout: HTTP_LIMITS.responseTimeout,
      maxWatches: MAX_WATCHES,
      maxReflections: MAX_REFLECTIONS,
      maxReflectionQuestions: MAX_QUESTIONS_PER_SECOND,
      maxCalls: ADMISSION_LIMITS.total,
      maxCallsPerProvider: ADMISSION_LIMITS.perProvider,
      poolSize: POOL_SIZE,
    },
  ];
  const config = readConfig({ DATABASE_URL: "mysql://u:p@h/d" });
  for (const part of defaults) expect(config).toMatchObject(part);
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
      const request = (header: string) => `GET /nothing HTTP/1.1\r\nhost: x\r\n${header}\r\n`;
      const socket = connect(Number(port), hostname);
      socket.write(request("").repeat(count - 1) + request("connection: close\r\n"));
      return (await text(socket)).match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];
    }
    // The first request is handled at once; the others wait.
    const most = 1 + limit(WAITING);
    expect(await pipelined(most)).toEqual(Array(most).fill("404"));
    expect((await pipelined(most + 1)).at(-1)).toBe("429");
  });

  it(STOP, async () => {
    expect(await fixture.service.stop()).toBe(0);
    const line = fixture.service.log().find(({ msg }) => msg === "stopping");
    expect(line).toMatchObject({ signal: "SIGTERM", graceMs: limit(STOP) });
    const seconds = /calls in flight have (\d+) s to finish/;
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
  });
});
