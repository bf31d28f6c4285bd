/**
 * Messages as bytes: REST to the letter, with every documented field, no others, and decimals with their digits; the
 * cases of the Connect conformance suite that concern a server of unary RPCs, on this service
 * (https://github.com/connectrpc/conformance; the suite itself calls a service of its own); and messages that cannot
 * be decoded. The headers of each status: test/end-to-end/openapi/document.test.ts.
 *
 * One case of the suite differs: a message over gRPC that is marked as compressed, without a compression, is
 * INTERNAL in the suite. grpc-js reads it as it is.
 */
import { connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import { buffer } from "node:stream/consumers";
import { brotliCompressSync, deflateSync, gunzipSync, gzipSync } from "node:zlib";
import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { grpcMessage as frame } from "../../support/clients/http2-frames.ts";
import { type RawResponse, rawHttp } from "../../support/clients/raw-http.ts";
import { UNAUTHENTICATED } from "../../support/expected-error.ts";
import { type RequestHeaders, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { openStream } from "../../unit/grpc/grpc-server.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger, { SERVICE_KEYS: "all" });
});
afterAll(() => fixture?.dispose());

async function get(target: string, key = fixture.key): Promise<string> {
  const { status, text } = await rawHttp(fixture.service.http, { target, headers: withKey(key) });
  expect({ status, text }).toMatchObject({ status: 200 });
  return text;
}

/** The JSON of this month and the eleven before it, without charges. */
function emptyMonths(): string {
  const today = Temporal.Now.plainDateISO("UTC");
  return Array.from({ length: 12 }, (_, months) => {
    const month = today.subtract({ months });
    const name = month.toLocaleString("en-US", { month: "long" });
    const start = `${month.toPlainYearMonth()}-01T00:00:00Z`;
    return `{"month":"${name} ${month.year}","monthAbbreviation":"${name.slice(0, 3)}","amount":0.00,"startTime":"${start}"}`;
  }).join(",");
}

const NO_EARNINGS =
  '"totalEarningsYTD":0.00,"platformFeesYTD":0.00,"grossRevenueYTD":0.00,"currentMonthEarnings":0.00';

it("the overview has every field", async () => {
  expect(await get("/api/provider/revenue")).toBe(
    `{"summary":{${NO_EARNINGS},"availableBalance":1250.50},` +
      `"monthlyEarnings":[${emptyMonths()}],` +
      '"serverRevenue":[{"serverId":"6b0f3d1e-5c0e-4c59-9d0a-2f4f4f0d7e11","serverName":"alpha",' +
      '"pricePerHour":2.50,"totalEarnings":4050.04,"platformFees":450.01,"grossRevenue":4500.05,"totalHours":1800.02}],' +
      '"recentPayouts":[{"payoutId":"po-1","date":"2024-04-01T09:30:00Z","amount":4000.00,' +
      '"method":"Bank Transfer","status":"Completed"}],"providerName":"first"}',
  );
});

it("the overview of a provider without data has zeros and empty lists", async () => {
  expect(await get("/api/provider/revenue", await fixture.issueKey("2"))).toBe(
    `{"summary":{${NO_EARNINGS},"availableBalance":0.00},` +
      `"monthlyEarnings":[${emptyMonths()}],"serverRevenue":[],"recentPayouts":[],"providerName":"second"}`,
  );
});

const ALPHA = '{"serverId":"6b0f3d1e-5c0e-4c59-9d0a-2f4f4f0d7e11","serverName":"alpha",';

it("the breakdown of a period of days has every field", async () => {
  const target = "/api/provider/revenue/servers?startDate=2024-03-01&endDate=2024-03-31";
  expect(await get(target)).toBe(
    '{"startDate":"2024-03-01T00:00:00Z","endDate":"2024-03-31T23:59:59.999Z",' +
      '"totalServers":1,"activeServers":1,"totalRevenue":4500.05,"totalRentals":1,"activeRentals":0,' +
      `"servers":[${ALPHA}"serverType":"GPU","status":"Active",` +
      '"totalRevenue":4500.05,"totalRentals":1,"activeRentals":0,' +
      '"instances":[{"instanceId":"inst-1","instanceName":"gpu-1","totalRevenue":4500.00,' +
      '"totalRentals":1,"activeRentals":0,"refunds":0.00,"rentedHours":720.00,' +
      '"platformFees":450.00,"earnings":4050.00}],' +
      '"refunds":0.00,"rentedHours":720.00,"platformFees":450.01,"earnings":4050.04}],' +
      '"refunds":0.00,"rentedHours":720.00,"timeZone":"UTC","platformFees":450.01,"earnings":4050.04}',
  );
});

it("the revenue of all providers has every field, for a service key", async () => {
  const target = "/api/platform/revenue?startDate=2024-01-01&endDate=2024-12-31&pageSize=1";
  const text = await get(target, await fixture.issueServiceKey("finance"));
  const [now, token] = [/"dataAsOf":"([\d:.TZ-]+)"/, /"nextPageToken":"([\w-]+)"/].map(
    (field) => field.exec(text)?.[1],
  );
  expect(text).toBe(
    '{"providers":[{"providerId":"1","name":"first","grossRevenue":4500.05,"refunds":0.00,' +
      '"platformFees":450.01,"earnings":4050.04,"charges":2,"rentedHours":720.00,"completedPayouts":4000.00,' +
      `"otherPayouts":0.00,"availableBalance":1250.50,"dataAsOf":"${now}"}],"nextPageToken":"${token}",` +
      '"startDate":"2024-01-01T00:00:00Z","endDate":"2024-12-31T23:59:59.999Z","timeZone":"UTC"}',
  );
});

const METHOD = "GetServerBreakdown";
const PATH = `/revenue.v1.RevenueService/${METHOD}`;
/** The largest request message, in bytes. */
const MAX_MESSAGE = 64 * 1024;

/** The code of a call, OK or an HTTP status where there is none, and its message or its response. */
interface Result {
  readonly code: string;
  readonly message: string;
}
/** Makes a call with a key, by default a valid one. */
type Call = (key?: string, ...headers: RequestHeaders) => Promise<Result>;
type Body = Uint8Array | string;

function connectResult(response: RawResponse): Result {
  // A response to a compressed request may be compressed.
  const isCompressed = response.headers["content-encoding"] === "gzip";
  const text = isCompressed ? gunzipSync(response.bytes).toString() : response.text;
  if (response.status === 200) return { code: "OK", message: text };
  const { code = `${response.status}`, message } = JSON.parse(text);
  return { code: code.toUpperCase(), message };
}

function post(body: Body, headers: RequestHeaders, key = fixture.key, target = PATH) {
  const all = [...headers, ...withKey(key)];
  return rawHttp(fixture.service.http, { method: "POST", target, headers: all, body });
}

const connect =
  (type: string, body: Body, ...headers: RequestHeaders): Call =>
  async (key, ...more) =>
    connectResult(await post(body, [["content-type", type], ...headers, ...more], key));

const connectGet =
  (query: string): Call =>
  async (key = fixture.key) => {
    const target = `${PATH}?connect=v1&${query}`;
    return connectResult(await rawHttp(fixture.service.http, { target, headers: withKey(key) }));
  };

const grpcWeb =
  (body: Uint8Array, ...headers: RequestHeaders): Call =>
  async (key) => {
    const types = [["content-type", "application/grpc-web+proto"], ...headers] as const;
    const response = await post(body, types, key);
    const text = response.bytes.toString("latin1");
    // The trailers are in the body; an error without a response has them in the headers.
    const trailer = (name: string) =>
      `${response.headers[name] ?? new RegExp(`${name}: ?(.*)\r`, "i").exec(text)?.[1] ?? ""}`;
    const code = status[Number(trailer("grpc-status"))] ?? "";
    return { code, message: code === "OK" ? text : decodeURIComponent(trailer("grpc-message")) };
  };

const grpc =
  (body: Uint8Array, ...headers: RequestHeaders): Call =>
  async (key = fixture.key) => {
    const session = connectHttp2(`http://${fixture.service.grpc}`);
    try {
      const stream = openStream(session, PATH, Object.fromEntries([...headers, ...withKey(key)]));
      const received: IncomingHttpHeaders = {};
      for (const event of ["response", "trailers"]) {
        stream.on(event, (fields) => Object.assign(received, fields));
      }
      stream.end(body);
      const text = (await buffer(stream)).toString();
      const code = status[Number(received["grpc-status"])] ?? `${received[":status"]}`;
      const message = decodeURIComponent(`${received["grpc-message"] ?? ""}`);
      return { code, message: code === "OK" ? text : message };
    } finally {
      session.destroy();
    }
  };

/** GetServerBreakdown of the default period: a message of zero bytes. */
const EMPTY = new Uint8Array();
const JSON_TYPE = "application/json";
const PROTO = "application/proto";
const GZIP = ["grpc-encoding", "gzip"] as const;
const DEFLATE = ["grpc-encoding", "deflate"] as const;
const UNKNOWN = ["grpc-encoding", "foo"] as const;

it.each<[name: string, call: Call]>([
  ["Connect, JSON with a charset", connect(`${JSON_TYPE}; charset=utf-8`, "{}")],
  ["Connect, gzip", connect(JSON_TYPE, gzipSync("{}"), ["content-encoding", "gzip"])],
  ["Connect, an empty message", connect(PROTO, EMPTY)],
  [
    "Connect GET, gzip",
    connectGet(
      `encoding=json&base64=1&compression=gzip&message=${gzipSync("{}").toString("base64url")}`,
    ),
  ],
  ["gRPC-Web, gzip", grpcWeb(frame(gzipSync(EMPTY), 1), GZIP)],
  ["gRPC, gzip", grpc(frame(gzipSync(EMPTY), 1), GZIP)],
  ["gRPC, deflate", grpc(frame(deflateSync(EMPTY), 1), DEFLATE)],
])("%s: it is answered", async (_, call) => {
  expect(await call()).toEqual({ code: "OK", message: expect.stringContaining("alpha") });
});

it("no request message has a field 15, which over gRPC would look like deflate", () => {
  const fields = RevenueService.methods.flatMap(({ input }) => input.fields);
  expect(fields.map(({ number }) => number)).not.toContain(15);
});

it("responses are compressed with gzip for a client that accepts it, over Connect and gRPC-Web", async () => {
  const overview = "/revenue.v1.RevenueService/GetOverview";
  const accepted = ["accept-encoding", "gzip, br"] as const;
  const connect = [["content-type", JSON_TYPE] as const, accepted];
  const unary = await post("{}", connect, fixture.key, overview);
  expect(unary.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(unary.bytes).toString()).toContain("alpha");

  const type = ["content-type", "application/grpc-web+json"] as const;
  const web = [type, GZIP, ["grpc-accept-encoding", "gzip"] as const];
  const framed = await post(frame(gzipSync("{}"), 1), web, fixture.key, overview);
  expect(framed.headers["grpc-encoding"]).toBe("gzip");
  const end = 5 + framed.bytes.readUInt32BE(1);
  expect(framed.bytes[0]).toBe(1);
  expect(gunzipSync(framed.bytes.subarray(5, end)).toString()).toContain("alpha");
});

const BR = brotliCompressSync("{}");
const BR_IN_QUERY = `encoding=json&base64=1&compression=br&message=${BR.toString("base64url")}`;

it.each<[name: string, call: Call]>([
  ["Connect", connect(JSON_TYPE, BR, ["content-encoding", "br"])],
  ["Connect, an empty message", connect(PROTO, EMPTY, ["content-encoding", "br"])],
  ["Connect GET", connectGet(BR_IN_QUERY)],
  ["gRPC-Web", grpcWeb(frame(brotliCompressSync(EMPTY), 1), ["grpc-encoding", "br"])],
])("%s: Brotli is no compression of a request, whose key counts first", async (_, call) => {
  const message = 'unknown compression "br": supported encodings are gzip';
  expect(await call()).toEqual({ code: "UNIMPLEMENTED", message });
  expect(await call("invalid")).toMatchObject({ code: UNAUTHENTICATED.code });
});

/** `start_date` with a length of 5 and one byte, and with bytes that are not UTF-8. */
const TRUNCATED = Buffer.from("0a05ab", "hex");
const NOT_UTF8 = Buffer.from("0a02c328", "hex");
/** A compressed message that breaks off. */
const BROKEN_GZIP = frame(gzipSync("0123456789").subarray(0, 20), 1);
const TOO_LARGE = Buffer.alloc(MAX_MESSAGE + 1);

/** Only once its key is accepted: grpc-js would, of all requests at once, before. */
const DECOMPRESSED = "gRPC, too large once it is decompressed";

/** Calls whose message cannot be read, by the code of their error. */
const REFUSED: Readonly<Record<string, Readonly<Record<string, Call>>>> = {
  UNIMPLEMENTED: {
    "Connect, compression": connect(PROTO, EMPTY, ["content-encoding", "foo"]),
    "gRPC-Web, no message": grpcWeb(EMPTY),
    "gRPC-Web, two messages": grpcWeb(Buffer.concat([frame(EMPTY), frame(EMPTY)])),
    "gRPC-Web, compression": grpcWeb(frame(EMPTY, 1), UNKNOWN),
    "gRPC, compression": grpc(frame(EMPTY, 1), UNKNOWN),
    "gRPC, part of a prefix": grpc(Buffer.from([0, 0, 0])),
  },
  INTERNAL: {
    "gRPC-Web, a compressed message without a compression": grpcWeb(frame(EMPTY, 1), [
      "grpc-encoding",
      "identity",
    ]),
    // Connect-ES's own; the log has INVALID_ARGUMENT.
    "Connect, truncated": connect(PROTO, TRUNCATED),
    "Connect GET, not base64": connectGet("encoding=proto&base64=1&message=%25%25"),
    "gRPC-Web, not UTF-8": grpcWeb(frame(NOT_UTF8)),
  },
  415: {
    "gRPC, another codec": grpc(frame(EMPTY), ["content-type", "application/grpc+json"]),
    "gRPC, another method": grpc(frame(EMPTY), [":method", "PUT"]),
  },
  DEADLINE_EXCEEDED: {
    "gRPC, a timeout that has passed": grpc(frame(EMPTY), ["grpc-timeout", "1n"]),
  },
  INVALID_ARGUMENT: {
    "Connect, timeout": connect(JSON_TYPE, "{}", ["connect-timeout-ms", "soon"]),
    "Connect, not JSON": connect(JSON_TYPE, "{"),
    "gRPC-Web, an incomplete message": grpcWeb(frame(TRUNCATED).subarray(0, 6)),
    "gRPC, not UTF-8": grpc(frame(NOT_UTF8)),
    "gRPC, gzip that breaks off": grpc(BROKEN_GZIP, GZIP),
  },
  RESOURCE_EXHAUSTED: {
    "Connect, too large": connect(JSON_TYPE, JSON.stringify({ startDate: `${TOO_LARGE}` })),
    "gRPC-Web, too large": grpcWeb(frame(TOO_LARGE)),
    "gRPC, too large": grpc(frame(TOO_LARGE)),
    [DECOMPRESSED]: grpc(frame(gzipSync(Buffer.alloc(1e7)), 1), GZIP),
  },
};

it.each(
  Object.entries(REFUSED).flatMap(([code, calls]) =>
    Object.entries(calls).map(([name, call]) => [name, code, call] as const),
  ),
)("%s: %s", async (name, code, call) => {
  expect(await call()).toMatchObject({ code });
  if (["INVALID_ARGUMENT", "INTERNAL"].includes(code) || name === DECOMPRESSED) {
    expect(await call("invalid")).toMatchObject({ code: UNAUTHENTICATED.code });
  }
});

it("what Connect-ES refuses is logged as the caller's error", async () => {
  for (const [id, logged, call] of [
    ["malformed", "INVALID_ARGUMENT", connect(PROTO, TRUNCATED)],
    ["unknown-compression", "UNIMPLEMENTED", connect(JSON_TYPE, "{}", ["content-encoding", "foo"])],
    ["too-large", "RESOURCE_EXHAUSTED", connect(JSON_TYPE, `"${TOO_LARGE}"`)],
  ] as const) {
    await call(fixture.key, ["x-request-id", id]);
    expect(await fixture.service.logOf(id)).toMatchObject([{ code: logged }]);
  }
  expect(fixture.service.log().filter(({ level }) => level === "error")).toEqual([]);
});
