/**
 * Bodies of 10 MiB, whatever the path, the method and the framing: the request is answered, what it
 * carries is discarded, and none of it is taken for another request.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { RevenueService } from "../../../../gen/revenue/v1/revenue_pb.ts";
import { ServiceError } from "../../../../src/errors.ts";
import type { IncomingCall } from "../../../../src/rpc/call.ts";
import { listen } from "../../../unit/gateway/gateway.ts";
import { handleOverview, JSON_BODY, PATH } from "../../../unit/gateway/overview.ts";

/** It looks like requests. */
const SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
const BODY = Buffer.alloc(10 * 1024 * 1024, SMUGGLED);
const NEXT = "GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

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

/** Sends a request with the body, and another one. Resolves to what the server sends. */
async function send(line: string, headers: readonly string[]) {
  const { port, calls } = await listen(RevenueService, handleOverview, authenticate);
  const client = connect(port, "127.0.0.1").on("error", () => {});
  onTestFinished(() => {
    client.destroy();
  });
  const isChunked = headers.includes(CHUNKED);
  client.write([`${line} HTTP/1.1`, "Host: a", ...headers, "", ""].join("\r\n"));
  if (isChunked) client.write(`${BODY.length.toString(16)}\r\n`);
  client.write(BODY);
  client.write(isChunked ? `\r\n0\r\n\r\n${NEXT}` : NEXT);
  const responses = await client.setEncoding("utf8").toArray();
  return { responses: responses.join(""), calls };
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
  const { responses, calls } = await send(line, headers);
  const statuses = responses.match(/(?<=HTTP\/1\.1 )\d+/g);
  // Connect-ES reads the bodies of some requests, up to the limit. Then the connection is closed.
  const isClosed = /^connection: close\r$/im.test(
    responses.slice(0, responses.indexOf("\r\n\r\n")),
  );
  expect(statuses).toEqual(isClosed ? [status] : [status, "404"]);
  expect(calls.length).toBeLessThan(2);
  if (headers.includes(GRPC_WEB)) expect(responses).toContain("grpc-status: 8");
});

test("a client that goes on sending receives the response, and no reset before it", async () => {
  const { port } = await listen(RevenueService, handleOverview, authenticate);
  const client = connect(port, "127.0.0.1");
  onTestFinished(() => {
    client.destroy();
  });
  let broken = false;
  client.on("error", () => {
    broken = true;
  });
  client.write([`POST ${PATH} HTTP/1.1`, "Host: a", KEY, JSON_BODY, DECLARED, "", ""].join("\r\n"));
  for (let sent = 0; sent < 20; sent++) {
    client.write(Buffer.alloc(20_000));
    await sleep(10);
  }
  expect(broken).toBe(false);
  const [response] = await once(client, "data");
  expect(`${response}`).toMatch(/^HTTP\/1\.1 413 /);
});

test.each([0, 5])(
  "a 503 arrives, also if the body of its request does %i ms later",
  async (pause) => {
    const overloaded = () => {
      throw new ServiceError("overloaded");
    };
    const { port } = await listen(RevenueService, handleOverview, overloaded);
    for (let count = 0; count < 10; count++) {
      const client = connect({ port, host: "127.0.0.1", noDelay: true }).on("error", () => {});
      onTestFinished(() => {
        client.destroy();
      });
      client.write(
        [`POST ${PATH} HTTP/1.1`, "Host: a", KEY, JSON_BODY, "Content-Length: 60000", "", ""].join(
          "\r\n",
        ),
      );
      await sleep(pause);
      for (let sent = 0; sent < 60_000; sent += 15_000) client.write(Buffer.alloc(15_000));
      const [response] = await once(client, "data");
      expect(`${response}`).toMatch(/^HTTP\/1\.1 503 /);
    }
  },
);
