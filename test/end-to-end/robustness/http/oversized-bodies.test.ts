/** Bodies of 10 MiB are not read to their end, whatever the path, the method and the framing. */
import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { RevenueService } from "../../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError } from "../../../../src/errors.ts";
import type { IncomingCall } from "../../../../src/rpc/call.ts";
import { listen } from "../../../unit/gateway/gateway.ts";
import { handleOverview, JSON_BODY, PATH } from "../../../unit/gateway/overview.ts";

const BODY = Buffer.alloc(10 * 1024 * 1024, "a");
/** What may be read of it: 256 KiB while the connection lingers, and the chunks under way. */
const MAX_READ = 1024 * 1024;
/** Until the client is cut off. */
const MAX_TIME = 3_000;

const DECLARED = `Content-Length: ${BODY.length}`;
const CHUNKED = "Transfer-Encoding: chunked";
const GRPC_WEB = "Content-Type: application/grpc-web+proto";
const KEY = "X-API-Key: k";
const GET = "GET /api/provider/revenue";
const CONNECT_GET = `GET ${PATH}?encoding=json&message={}`;

/** Accepts the key "k" only. */
const authenticate = ({ credentials }: IncomingCall) => {
  if (credentials.xApiKey[0] !== "k") throw new ServiceError("unauthenticated");
};

/** Sends a request with the body. Resolves to the response, and the bytes that the server read. */
async function send(line: string, headers: readonly string[]) {
  const { server, port } = await listen(RevenueService, handleOverview, authenticate);
  const client = connect(port, "127.0.0.1");
  onTestFinished(() => {
    client.destroy();
  });
  let response = "";
  client.on("error", () => {});
  client.setEncoding("utf8").on("data", (chunk) => {
    response += chunk;
  });
  client.write([`${line} HTTP/1.1`, "Host: a", ...headers, "", ""].join("\r\n"));
  if (headers.includes(CHUNKED)) client.write(`${BODY.length.toString(16)}\r\n`);
  client.write(BODY);
  const [socket] = await once(server, "connection");
  await once(socket, "close");
  return { response, read: socket.bytesRead };
}

test.each<[string, string, readonly string[], string]>([
  ["an unknown path", "POST /nothing", [DECLARED], "404"],
  ["an unknown path, chunked", "POST /nothing", [CHUNKED], "404"],
  ["an unknown method", "PUT /api/provider/revenue", [DECLARED], "405"],
  ["an unknown method, chunked", "DELETE /api/provider/revenue", [CHUNKED], "405"],
  ["REST without a key", GET, [DECLARED], "401"],
  ["REST without a key, chunked", GET, [CHUNKED], "401"],
  ["REST", GET, [KEY, DECLARED], "413"],
  ["REST, chunked", GET, [KEY, CHUNKED], "200"],
  ["REST HEAD", "HEAD /api/provider/revenue", [KEY, DECLARED], "413"],
  ["REST HEAD, chunked", "HEAD /api/provider/revenue", [KEY, CHUNKED], "200"],
  ["Connect", `POST ${PATH}`, [KEY, JSON_BODY, DECLARED], "413"],
  ["Connect, chunked", `POST ${PATH}`, [KEY, JSON_BODY, CHUNKED], "413"],
  ["Connect without a key", `POST ${PATH}`, [JSON_BODY, CHUNKED], "401"],
  ["Connect GET", CONNECT_GET, [KEY, DECLARED], "413"],
  ["Connect GET, chunked", CONNECT_GET, [KEY, CHUNKED], "200"],
  ["an unknown content type", `POST ${PATH}`, [KEY, CHUNKED], "415"],
  ["gRPC-Web", `POST ${PATH}`, [KEY, GRPC_WEB, DECLARED], "200"],
  ["gRPC-Web, chunked", `POST ${PATH}`, [KEY, GRPC_WEB, CHUNKED], "200"],
])("%s", async (_name, line, headers, status) => {
  const start = performance.now();
  const { response, read } = await send(line, headers);
  expect(response.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
  expect(read).toBeLessThan(MAX_READ);
  expect(performance.now() - start).toBeLessThan(MAX_TIME);
  if (headers.includes(GRPC_WEB)) expect(response).toContain("grpc-status: 8");
});
