/** The limits in the documentation are those of the code. */
import { describe, expect, it } from "vitest";
import { FAILURES_PER_ADDRESS } from "../../src/auth/failure-limit.ts";
import { MAX_KEY_LOOKUPS } from "../../src/auth/key-queue.ts";
import { readConfig, VARIABLES } from "../../src/config.ts";
import { POOL_WAIT } from "../../src/db/query.ts";
import { serviceErrors } from "../../src/errors.ts";
import { HTTP_LIMITS } from "../../src/gateway/http/limits.ts";
import { GRPC_LIMITS } from "../../src/grpc/limits.ts";
import { MAX_REFLECTIONS, REFLECTION_TIMEOUT } from "../../src/grpc/reflection.ts";
import { RESERVED_DESCRIPTORS } from "../../src/net/connection-limit.ts";
import { MAX_UNREAD_BYTES } from "../../src/net/unread.ts";
import { MAX_MESSAGE_BYTES } from "../../src/rpc/call.ts";
import { HANDSHAKE_TIMEOUT } from "../../src/tls/port-tls.ts";
import { codeIn, page, tableWith } from "./markdown.ts";

/** The number in the only place of a page that matches; `group` is its digits. */
function numberIn(path: string, pattern: RegExp): number {
  const matches = [...page(path).matchAll(new RegExp(pattern, "gi"))];
  if (matches.length !== 1) throw new Error(`${path} has ${matches.length} times ${pattern}`);
  return Number(matches[0]?.[1]?.replaceAll(",", ""));
}

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  s: 1000,
  KiB: 1024,
  MiB: 1024 * 1024,
};

/** A value as a count, in ms or in bytes. */
function limitValue(text: string): number {
  const [, digits = "", unit = ""] = /^([\d,]+)(?: (s|KiB|MiB))?$/.exec(text) ?? [];
  return Number(digits.replaceAll(",", "") || Number.NaN) * (UNITS[unit] ?? Number.NaN);
}

/** The rows of the table: what is limited, and its value, or the name of its setting. */
const rows = tableWith("limit", "value", "beyond it", "what an operator sees").map(
  ([limit = "", value = ""]) => ({ limit, value, setting: codeIn(value)[0] }),
);
const constantRows = rows.filter(({ setting }) => setting === undefined);

const config = readConfig({ DATABASE_URL: "mysql://u:p@h/d" });

/** The constants, by the beginning of their row. */
const CONSTANTS: Readonly<Record<string, number>> = {
  "calls that wait for their API key": MAX_KEY_LOOKUPS,
  "failed authentications of one client address per second": FAILURES_PER_ADDRESS.rate,
  "failed authentications of one client address at once": FAILURES_PER_ADDRESS.burst,
  "wait for a connection to the database": POOL_WAIT,
  "open files that connections leave": RESERVED_DESCRIPTORS,
  "response bytes that clients have not read": MAX_UNREAD_BYTES,
  "time that a client takes to read a response": HTTP_LIMITS.responseTimeout,
  "headers of a request": HTTP_LIMITS.maxHeaderSize,
  "time until the headers": HTTP_LIMITS.headersTimeout,
  "time until the request": HTTP_LIMITS.requestTimeout,
  "message to Connect": MAX_MESSAGE_BYTES,
  "silence on an HTTP/1.1 connection": HTTP_LIMITS.connectionTimeout,
  "idle HTTP connection": HTTP_LIMITS.keepAliveTimeout,
  "time until the TLS handshake": HANDSHAKE_TIMEOUT,
  "time until the preface": GRPC_LIMITS.prefaceTimeout,
  "streams of a gRPC connection": GRPC_LIMITS.maxStreamsPerConnection,
  "streams of all gRPC connections": GRPC_LIMITS.maxStreams,
  // Node's defaults of streamResetBurst and streamResetRate, which it does not export.
  "calls that a gRPC client cancels": 1_000,
  "unread response bytes of a gRPC connection": GRPC_LIMITS.maxUnreadPerConnection,
  "time between pings": GRPC_LIMITS.keepalive,
  "time until the reply": GRPC_LIMITS.keepaliveReply,
  "open reflection streams": MAX_REFLECTIONS,
  "time that a reflection stream": REFLECTION_TIMEOUT,
};

it.each(Object.entries(CONSTANTS))("the table has the limit on %s", (start, value) => {
  const found = constantRows.filter(({ limit }) => limit.startsWith(start));
  expect(found.map((row) => limitValue(row.value))).toEqual([value]);
});

it("the table has no limit that is not compared, and no setting that is not read", () => {
  expect(constantRows).toHaveLength(Object.keys(CONSTANTS).length);
  const names = Object.values(VARIABLES).map(({ name }): string => name);
  const settings = rows.flatMap(({ setting }) => setting ?? []);
  expect(settings.filter((name) => !names.includes(name))).toEqual([]);
});

it("the two ports have the same limits of time", () => {
  const { requestTimeout, responseTimeout } = HTTP_LIMITS;
  expect(GRPC_LIMITS).toMatchObject({ requestTimeout, responseTimeout });
});

it("HTTP waits longer than the longest call that may be set takes", () => {
  const set = (ms: number) => readConfig({ DATABASE_URL: "mysql://u:p@h/d", MAX_CALL_MS: `${ms}` });
  expect(() => set(HTTP_LIMITS.connectionTimeout)).toThrow(/^MAX_CALL_MS/);
  expect(() => set(HTTP_LIMITS.responseTimeout)).toThrow(/^MAX_CALL_MS/);
});

describe("the same numbers elsewhere:", () => {
  it("calls in flight at a stop", () => {
    const seconds = /calls in flight have (\d+) s to finish/;
    expect(numberIn("docs/operations.md", seconds) * 1000).toBe(config.grace);
  });

  it("calls in flight in the table of errors", () => {
    const { maxCalls, maxCallsPerProvider } = config;
    expect(numberIn("docs/api.md", /the provider has ([\d,]+) calls in flight/)).toBe(
      maxCallsPerProvider,
    );
    expect(numberIn("docs/api.md", /the service has ([\d,]+) calls in flight/)).toBe(maxCalls);
  });

  it("the largest message in its error", () => {
    expect(serviceErrors.messageTooLarge.message).toContain(` ${MAX_MESSAGE_BYTES} bytes`);
  });

  it("the time of a call", () => {
    for (const pattern of [
      /deadline \((\d+) s, or the client's own\)/,
      /A call takes (\d+) s at most/,
      /is honoured, up to (\d+) s\./,
    ]) {
      expect(numberIn("docs/api.md", pattern) * 1000).toBe(config.maxCall);
    }
  });
});
